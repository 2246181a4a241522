//! From what stands in the file to what it means: enums, runs, who is shown, and where everything lies.

use std::borrow::Cow;
use std::f64::consts::TAU;

use crate::lenient::{List, Object, Scalar};
use crate::raw::{RawEffect, RawNode, RawPaint, RawPath, RawProperty, color, point};
use crate::{
    Affine, Align, Arc, AutoLayout, Axis, BooleanOperation, ComponentFacts, Constraint, Effect, GradientKind,
    GradientStop, Kind, Mask, Node, NodeIndex, Paint, PaintKind, Path, Placement, Point, PropertyDefinition,
    PropertyValue, Rect, ScaleMode, Size, Sizing, Stroke, StrokeAlign, StrokeCap, StrokeJoin, Warnings, text,
};

/// What the file says of a node's place, kept until its ancestors are known.
#[derive(Debug, Clone, Default)]
pub(crate) struct RawGeometry {
    bounds: Option<Rect>,
    /// Width and height where the box has no position.
    loose_size: Option<Size>,
    size: Option<Size>,
    transform: Option<Affine>,
    /// Radians, relative to the parent.
    rotation: f64,
    position: Option<Point>,
    stretch: bool,
    grow: bool,
    sizing: [Option<Sizing>; 2],
    primary_sizing: Option<Sizing>,
    counter_sizing: Option<Sizing>,
}

/// A node yet to be filled in.
pub(crate) fn blank<'a>(parent: Option<NodeIndex>, depth: u16) -> Node<'a> {
    Node {
        id: Cow::Borrowed(""),
        name: Cow::Borrowed(""),
        kind: Kind::Unknown,
        parent,
        end: 0,
        depth,
        visible: true,
        shown: true,
        bounds: Rect::default(),
        render_bounds: None,
        size: Size::default(),
        transform: Affine::IDENTITY,
        opacity: 1.0,
        blend: None,
        fills: Vec::new(),
        stroke: None,
        radii: [0.0; 4],
        effects: Vec::new(),
        mask: None,
        clips: false,
        fill_geometry: Vec::new(),
        stroke_geometry: Vec::new(),
        arc: None,
        boolean_operation: None,
        layout: None,
        placement: Placement::default(),
        text: None,
        component: None,
        styles: Vec::new(),
        exported: false,
    }
}

/// Fills a node from its raw fields and gives back what of its place is still open.
pub(crate) fn take<'a>(node: &mut Node<'a>, mut raw: RawNode<'a>, warnings: &mut Warnings) -> RawGeometry {
    node.id = raw.take_id();
    node.kind = raw.kind.as_str().map_or(Kind::Unknown, Kind::from_name);
    if node.kind == Kind::Unknown {
        let name = raw.kind.as_str().unwrap_or("(none)").to_owned();
        warnings.add("unknown_type", Some(&node.id), || format!("type {name:?} is not known: read as a plain layer"));
    }
    let geometry = take_geometry(&raw, node, warnings);
    node.name = raw.name.text().unwrap_or_default();
    node.visible = raw.visible.boolean().unwrap_or(true);
    node.opacity = raw.opacity.number().unwrap_or(1.0).clamp(0.0, 1.0);
    node.blend = raw.blend.as_str().and_then(blend);
    node.fills = paints(raw.fills.as_ref().unwrap_or(&raw.background));
    node.stroke = stroke(&raw.strokes, &raw.stroke_weight, &raw.stroke_sides).map(|mut stroke| {
        stroke.align = match raw.stroke_align.as_str() {
            Some("CENTER") => StrokeAlign::Center,
            Some("OUTSIDE") => StrokeAlign::Outside,
            _ => StrokeAlign::Inside,
        };
        stroke.cap = match raw.stroke_cap.as_str() {
            None | Some("NONE") => StrokeCap::None,
            Some("ROUND") => StrokeCap::Round,
            Some("SQUARE") => StrokeCap::Square,
            Some(_) => StrokeCap::Arrow,
        };
        stroke.join = match raw.stroke_join.as_str() {
            Some("ROUND") => StrokeJoin::Round,
            Some("BEVEL") => StrokeJoin::Bevel,
            _ => StrokeJoin::Miter,
        };
        let dashes: Vec<f64> = raw.dashes.0.iter().filter_map(Scalar::number).collect();
        if dashes.iter().all(|d| *d >= 0.0) && dashes.iter().sum::<f64>() > 0.0 {
            stroke.dashes = dashes;
        }
        Box::new(stroke)
    });
    node.radii = radii(&raw.radius, &raw.radii);
    node.effects = raw.effects.0.into_iter().filter_map(|Object(e)| effect(&e?)).collect();
    node.mask = raw.is_mask.boolean().unwrap_or(false).then(|| match raw.mask_type.as_str() {
        Some("VECTOR") => Mask::Outline,
        Some("LUMINANCE") => Mask::Luminance,
        _ if raw.is_mask_outline.boolean() == Some(true) => Mask::Outline,
        _ => Mask::Alpha,
    });
    node.clips = raw.clips.boolean().unwrap_or(false);
    node.fill_geometry = paths(raw.fill_geometry);
    node.stroke_geometry = paths(raw.stroke_geometry);
    node.arc = raw.arc.0.map(|arc| Arc {
        start: arc.start.number().unwrap_or(0.0),
        end: arc.end.number().unwrap_or(TAU),
        inner: arc.inner.number().unwrap_or(0.0).clamp(0.0, 1.0),
    });
    node.boolean_operation = match raw.boolean_operation.as_str() {
        Some("UNION") => Some(BooleanOperation::Union),
        Some("INTERSECT") => Some(BooleanOperation::Intersect),
        Some("SUBTRACT") => Some(BooleanOperation::Subtract),
        Some("EXCLUDE") => Some(BooleanOperation::Exclude),
        _ => None,
    };
    let padding = [&raw.padding_top, &raw.padding_right, &raw.padding_bottom, &raw.padding_left];
    node.layout = axis(raw.layout_mode.as_str()).map(|axis| {
        let number = |v: &Scalar<'_>| v.number().unwrap_or(0.0);
        let (spacing, counter_spacing) = match axis {
            Axis::Grid => (number(&raw.grid_column_gap), number(&raw.grid_row_gap)),
            _ => (number(&raw.spacing), number(&raw.counter_spacing)),
        };
        Box::new(AutoLayout {
            axis,
            wrap: raw.layout_wrap.as_str() == Some("WRAP"),
            spacing,
            counter_spacing,
            padding: padding.map(number),
            primary_align: align(&raw.primary_align),
            counter_align: align(&raw.counter_align),
            reverse_z: raw.reverse_z.boolean().unwrap_or(false),
            strokes_included: raw.strokes_included.boolean().unwrap_or(false),
        })
    });
    node.placement.absolute = raw.layout_positioning.as_str() == Some("ABSOLUTE");
    if let Some(constraints) = raw.constraints.0 {
        node.placement.constraint_x = constraint(&constraints.horizontal);
        node.placement.constraint_y = constraint(&constraints.vertical);
    }
    if let Scalar::Text(characters) = raw.characters {
        let style = raw.style.0.unwrap_or(raw.own_style);
        let text = text(characters, &style, &raw.style_overrides.0, &raw.style_table.0);
        node.text = Some(Box::new(text));
    }
    let facts = ComponentFacts {
        component_id: raw.component_id.text(),
        properties: raw.properties.0.into_iter().filter_map(|(k, Object(p))| Some((k, value(p?, false).0))).collect(),
        definitions: raw
            .definitions
            .0
            .into_iter()
            .filter_map(|(key, Object(property))| {
                let (default, options) = value(property?, true);
                Some(PropertyDefinition { key, default, options })
            })
            .collect(),
        references: raw.references.0.into_iter().filter_map(|(field, key)| Some((field, key.text()?))).collect(),
        overrides: raw.overrides.0.into_iter().filter_map(|Object(o)| o?.id.text()).collect(),
    };
    node.component = (facts != ComponentFacts::default()).then(|| Box::new(facts));
    node.styles = raw.styles.0.into_iter().filter_map(|(field, id)| Some((field, id.text()?))).collect();
    node.exported = !raw.exports.0.is_empty();
    geometry
}

fn take_geometry(raw: &RawNode<'_>, node: &mut Node<'_>, warnings: &mut Warnings) -> RawGeometry {
    let size = |w: &Scalar<'_>, h: &Scalar<'_>| {
        let (width, height) = (w.number()?, h.number()?);
        Rect::new(0.0, 0.0, width.abs(), height.abs()).map(|r| Size { width: r.width, height: r.height })
    };
    let mut rotation = raw.rotation.number().unwrap_or(0.0);
    if rotation.abs() > TAU + 0.01 {
        // The plugin API counts degrees, and the other way round.
        rotation = -rotation.to_radians();
    }
    let bounds = raw.bounds.0.as_ref();
    let rect = bounds.and_then(|b| {
        let size = size(&b.width, &b.height)?;
        Rect::new(b.x.number()?, b.y.number()?, size.width, size.height)
    });
    if rect.is_none() && bounds.is_some() {
        warnings.add("bad_bounds", Some(&node.id), || {
            "absoluteBoundingBox has no usable numbers: placed by what else is known".to_owned()
        });
    }
    node.render_bounds = raw
        .render_bounds
        .0
        .as_ref()
        .and_then(|b| Rect::new(b.x.number()?, b.y.number()?, b.width.number()?, b.height.number()?));
    RawGeometry {
        bounds: rect,
        loose_size: bounds.and_then(|b| size(&b.width, &b.height)),
        size: raw
            .size
            .0
            .as_ref()
            .and_then(|s| size(&s.x, &s.y).or_else(|| size(&s.width, &s.height)))
            .or_else(|| size(&raw.width, &raw.height)),
        transform: matrix(&raw.transform),
        rotation,
        position: raw.x.number().zip(raw.y.number()).map(|(x, y)| Point { x, y }),
        stretch: raw.layout_align.as_str() == Some("STRETCH"),
        grow: raw.layout_grow.number().is_some_and(|g| g > 0.0),
        sizing: [sizing(&raw.sizing_horizontal), sizing(&raw.sizing_vertical)],
        primary_sizing: sizing(&raw.primary_sizing),
        counter_sizing: sizing(&raw.counter_sizing),
    }
}

/// Settles who is shown, where everything lies, and how each box comes about.
pub(crate) fn resolve(nodes: &mut [Node<'_>], geometry: &[RawGeometry], warnings: &mut Warnings) {
    let mut placed = vec![false; nodes.len()];
    for index in 0..nodes.len() {
        let (above, rest) = nodes.split_at_mut(index);
        let (node, raw) = (&mut rest[0], &geometry[index]);
        let parent = node.parent.map(|p| &above[p.at()]);
        node.shown = node.visible && parent.is_none_or(|p| p.shown);
        placed[index] = place(node, raw, parent, above);
        settle_sizing(node, raw, parent);
    }
    // A box that nothing was said about takes in what it holds; children come after parents, so walk backwards.
    let mut content: Vec<Option<Rect>> = vec![None; nodes.len()];
    for index in (0..nodes.len()).rev() {
        let node = &mut nodes[index];
        if !placed[index] {
            let holds = content[index];
            if let Some(rect) = holds {
                node.bounds = rect;
                node.size = Size { width: rect.width, height: rect.height };
                node.transform = Affine::translation(rect.x, rect.y);
            }
            if !node.kind.is_holder() {
                warnings.add("no_bounds", Some(&node.id), || "a layer has no box: taken from what it holds".to_owned());
            }
        }
        if (placed[index] || content[index].is_some())
            && let Some(parent) = node.parent
        {
            let bounds = node.bounds;
            let slot = &mut content[parent.at()];
            *slot = Some(slot.map_or(bounds, |r| r.union(&bounds)));
        }
    }
    let mut ids: Vec<&str> = nodes.iter().map(|n| n.id.as_ref()).filter(|id| !id.is_empty()).collect();
    ids.sort_unstable();
    for pair in ids.windows(2).filter(|pair| pair[0] == pair[1]) {
        warnings.add("duplicate_id", Some(pair[0]), || format!("more than one layer has the id {:?}", pair[0]));
    }
}

/// Sets bounds, size and transform; `false` where the file says nothing of use.
fn place(node: &mut Node<'_>, raw: &RawGeometry, parent: Option<&Node<'_>>, above: &[Node<'_>]) -> bool {
    let outer = parent.map_or(Affine::IDENTITY, |p| p.transform);
    // The plugin API places the children of a group relative to the frame around it.
    let container = || {
        let mut up = parent;
        while let Some(p) = up.filter(|p| matches!(p.kind, Kind::Group | Kind::BooleanOperation)) {
            up = p.parent.map(|i| &above[i.at()]);
        }
        up.map_or(Affine::IDENTITY, |p| p.transform)
    };
    let own = raw.transform.or_else(|| {
        (raw.rotation != 0.0).then(|| {
            let at = raw.position.unwrap_or_default();
            Affine::translation(at.x, at.y).after(&Affine::rotation(raw.rotation))
        })
    });
    if let Some(bounds) = raw.bounds {
        node.bounds = bounds;
        node.size = raw.size.unwrap_or(Size { width: bounds.width, height: bounds.height });
        node.transform = Affine::translation(bounds.x, bounds.y);
        let Some(own) = own else { return true };
        let turned = [outer.after(&own), container().after(&own), own];
        // Of the readings of a relative transform, the one whose box is the one on the canvas.
        for candidate in turned {
            let size = raw.size.unwrap_or_else(|| size_before_turn(bounds, &candidate));
            let Some(covered) = candidate.bounds(size).filter(|_| candidate.is_finite()) else { continue };
            let near = |a: f64, b: f64| (a - b).abs() <= 1.0 + 0.01 * a.abs();
            if near(covered.width, bounds.width) && near(covered.height, bounds.height) {
                node.size = size;
                node.transform =
                    Affine::translation(bounds.x - covered.x, bounds.y - covered.y).after(&candidate);
                return true;
            }
        }
        node.size = Size { width: bounds.width, height: bounds.height };
        return true;
    }
    let Some(size) = raw.size.or(raw.loose_size) else {
        let origin = outer.apply(Point::default());
        node.bounds = Rect { x: origin.x, y: origin.y, width: 0.0, height: 0.0 };
        node.transform = outer;
        return false;
    };
    let transform = match (own, raw.position) {
        (Some(own), _) => container().after(&own),
        (None, Some(at)) => container().after(&Affine::translation(at.x, at.y)),
        (None, None) => outer,
    };
    let Some(bounds) = transform.bounds(size) else { return false };
    node.bounds = bounds;
    node.size = size;
    node.transform = transform;
    true
}

/// The size whose box, turned by the transform's linear part, is `bounds`; near 45° there is no telling, so a square.
fn size_before_turn(bounds: Rect, turn: &Affine) -> Size {
    let (cos, sin) = (turn.a.abs(), turn.b.abs());
    let det = cos * cos - sin * sin;
    if det.abs() < 0.05 {
        let side = bounds.width / (cos + sin).max(0.1);
        return Size { width: side, height: side };
    }
    let width = (bounds.width * cos - bounds.height * sin) / det;
    let height = (bounds.height * cos - bounds.width * sin) / det;
    Size { width: width.max(0.0), height: height.max(0.0) }
}

fn settle_sizing(node: &mut Node<'_>, raw: &RawGeometry, parent: Option<&Node<'_>>) {
    let parent_axis = parent.and_then(|p| p.layout.as_deref()).map(|l| l.axis);
    let own_axis = node.layout.as_deref().map(|l| l.axis);
    let derive = |horizontal: bool| {
        let along = if horizontal { Axis::Horizontal } else { Axis::Vertical };
        match parent_axis {
            Some(axis) if axis == along && raw.grow => return Sizing::Fill,
            Some(axis) if axis != along && raw.stretch => return Sizing::Fill,
            _ => {}
        }
        match own_axis {
            Some(axis) if axis == along => raw.primary_sizing.unwrap_or(Sizing::Hug),
            Some(_) => raw.counter_sizing.unwrap_or(Sizing::Hug),
            None => Sizing::Fixed,
        }
    };
    node.placement.horizontal = raw.sizing[0].unwrap_or_else(|| derive(true));
    node.placement.vertical = raw.sizing[1].unwrap_or_else(|| derive(false));
}

fn matrix(rows: &List<List<Scalar<'_>>>) -> Option<Affine> {
    let [List(top), List(bottom)] = rows.0.as_slice() else { return None };
    let ([a, c, e], [b, d, f]) = (top.as_slice(), bottom.as_slice()) else { return None };
    let (a, b, c, d, e, f) = (a.number()?, b.number()?, c.number()?, d.number()?, e.number()?, f.number()?);
    Some(Affine { a, b, c, d, e, f })
}

fn sizing(raw: &Scalar<'_>) -> Option<Sizing> {
    match raw.as_str()? {
        "FIXED" => Some(Sizing::Fixed),
        "HUG" | "AUTO" => Some(Sizing::Hug),
        "FILL" => Some(Sizing::Fill),
        _ => None,
    }
}

fn axis(mode: Option<&str>) -> Option<Axis> {
    match mode? {
        "HORIZONTAL" => Some(Axis::Horizontal),
        "VERTICAL" => Some(Axis::Vertical),
        "GRID" => Some(Axis::Grid),
        _ => None,
    }
}

fn align(raw: &Scalar<'_>) -> Align {
    match raw.as_str() {
        Some("CENTER") => Align::Center,
        Some("MAX") => Align::End,
        Some("SPACE_BETWEEN") => Align::SpaceBetween,
        Some("BASELINE") => Align::Baseline,
        _ => Align::Start,
    }
}

fn constraint(raw: &Scalar<'_>) -> Constraint {
    match raw.as_str() {
        Some("RIGHT" | "BOTTOM" | "MAX") => Constraint::End,
        Some("CENTER") => Constraint::Center,
        Some("LEFT_RIGHT" | "TOP_BOTTOM" | "STRETCH") => Constraint::Stretch,
        Some("SCALE") => Constraint::Scale,
        _ => Constraint::Start,
    }
}

fn blend(name: &str) -> Option<&'static str> {
    Some(match name {
        "DARKEN" => "darken",
        "MULTIPLY" => "multiply",
        "LINEAR_BURN" | "COLOR_BURN" => "color-burn",
        "LIGHTEN" => "lighten",
        "SCREEN" => "screen",
        "LINEAR_DODGE" | "COLOR_DODGE" => "color-dodge",
        "OVERLAY" => "overlay",
        "SOFT_LIGHT" => "soft-light",
        "HARD_LIGHT" => "hard-light",
        "DIFFERENCE" => "difference",
        "EXCLUSION" => "exclusion",
        "HUE" => "hue",
        "SATURATION" => "saturation",
        "COLOR" => "color",
        "LUMINOSITY" => "luminosity",
        _ => return None,
    })
}

pub(crate) fn paints<'a>(raw: &List<Object<RawPaint<'a>>>) -> Vec<Paint<'a>> {
    raw.0.iter().filter_map(|Object(p)| paint(p.as_ref()?)).collect()
}

fn paint<'a>(raw: &RawPaint<'a>) -> Option<Paint<'a>> {
    let opacity = raw.opacity.number().unwrap_or(1.0).clamp(0.0, 1.0);
    if raw.visible.boolean() == Some(false) || opacity == 0.0 {
        return None;
    }
    let gradient = |kind| {
        let mut stops: Vec<GradientStop> = raw
            .stops
            .0
            .iter()
            .filter_map(|Object(stop)| {
                let stop = stop.as_ref()?;
                let position = stop.position.number()?.clamp(0.0, 1.0);
                Some(GradientStop { position, color: color(stop.color.0.as_ref()?) })
            })
            .collect();
        stops.sort_by(|a, b| a.position.total_cmp(&b.position));
        let handles: Vec<Point> = raw.handles.0.iter().filter_map(|Object(p)| point(p.as_ref()?)).collect();
        let handles = match handles.as_slice() {
            [start, end, across, ..] => [*start, *end, *across],
            [start, end] => [*start, *end, Point { x: start.x - (end.y - start.y), y: start.y + end.x - start.x }],
            _ => handles_from_transform(&raw.gradient_transform),
        };
        (!stops.is_empty()).then_some(PaintKind::Gradient { kind, handles, stops })
    };
    let kind = match raw.kind.as_str()? {
        "SOLID" => PaintKind::Solid(color(raw.color.0.as_ref()?)),
        "GRADIENT_LINEAR" => gradient(GradientKind::Linear)?,
        "GRADIENT_RADIAL" => gradient(GradientKind::Radial)?,
        "GRADIENT_ANGULAR" => gradient(GradientKind::Angular)?,
        "GRADIENT_DIAMOND" => gradient(GradientKind::Diamond)?,
        "IMAGE" | "VIDEO" | "EMOJI" | "PATTERN" => {
            let transform = matrix(&raw.transform).filter(Affine::is_finite);
            let scale = match raw.scale.as_str() {
                Some("FIT") => ScaleMode::Fit,
                Some("TILE") => ScaleMode::Tile,
                Some("CROP" | "STRETCH") => ScaleMode::Crop,
                _ => ScaleMode::Fill,
            };
            PaintKind::Image { reference: raw.image.clone().text(), scale, transform }
        }
        _ => return None,
    };
    if let PaintKind::Solid(color) = &kind
        && color.a == 0.0
    {
        return None;
    }
    Some(Paint { kind, opacity, blend: raw.blend.as_str().and_then(blend) })
}

/// The plugin API gives the inverse: from the box's unit square to the gradient's.
fn handles_from_transform(rows: &List<List<Scalar<'_>>>) -> [Point; 3] {
    let inverse = matrix(rows).and_then(|m| m.inverse());
    match inverse {
        Some(m) => [(0.0, 0.5), (1.0, 0.5), (0.0, 1.0)].map(|(x, y)| m.apply(Point { x, y })),
        None => [Point { x: 0.5, y: 0.0 }, Point { x: 0.5, y: 1.0 }, Point { x: 0.0, y: 0.0 }],
    }
}

fn stroke<'a>(
    raw: &List<Object<RawPaint<'a>>>,
    weight: &Scalar<'_>,
    sides: &Object<crate::raw::RawSides<'_>>,
) -> Option<Stroke<'a>> {
    let paints = paints(raw);
    let weight = weight.number().unwrap_or(1.0);
    let sides = sides.0.as_ref().map(|s| {
        [&s.top, &s.right, &s.bottom, &s.left].map(|side| side.number().unwrap_or(0.0).clamp(0.0, 1000.0))
    });
    let visible = weight > 0.0 || sides.is_some_and(|s| s.iter().any(|w| *w > 0.0));
    (!paints.is_empty() && visible && weight.is_finite()).then(|| Stroke {
        paints,
        weight: weight.clamp(0.0, 1000.0),
        sides,
        align: StrokeAlign::default(),
        dashes: Vec::new(),
        cap: StrokeCap::default(),
        join: StrokeJoin::default(),
    })
}

fn radii(radius: &Scalar<'_>, each: &List<Scalar<'_>>) -> [f64; 4] {
    let sane = |v: &Scalar<'_>| v.number().unwrap_or(0.0).clamp(0.0, 100_000.0);
    match each.0.as_slice() {
        [a, b, c, d] => [sane(a), sane(b), sane(c), sane(d)],
        _ => [sane(radius); 4],
    }
}

fn effect(raw: &RawEffect<'_>) -> Option<Effect> {
    if raw.visible.boolean() == Some(false) {
        return None;
    }
    let color = raw.color.0.as_ref().map_or(crate::Color { a: 0.25, ..Default::default() }, color);
    let offset = raw.offset.0.as_ref().and_then(point).unwrap_or_default();
    let radius = raw.radius.number().unwrap_or(0.0).clamp(0.0, 1000.0);
    let spread = raw.spread.number().unwrap_or(0.0).clamp(-1000.0, 1000.0);
    match raw.kind.as_str()? {
        "DROP_SHADOW" => Some(Effect::DropShadow { color, offset, radius, spread }),
        "INNER_SHADOW" => Some(Effect::InnerShadow { color, offset, radius, spread }),
        "LAYER_BLUR" => Some(Effect::LayerBlur { radius }),
        "BACKGROUND_BLUR" => Some(Effect::BackgroundBlur { radius }),
        _ => None,
    }
}

fn paths<'a>(raw: List<Object<RawPath<'a>>>) -> Vec<Path<'a>> {
    raw.0
        .into_iter()
        .filter_map(|Object(path)| {
            let path = path?;
            let even_odd = path.rule.as_str() == Some("EVENODD");
            Some(Path { data: path.data.text().filter(|d| !d.is_empty())?, even_odd })
        })
        .collect()
}

/// A property's value (or default) and what it enumerates.
fn value(raw: RawProperty<'_>, definition: bool) -> (PropertyValue<'_>, Vec<Cow<'_, str>>) {
    let given = if definition { raw.default } else { raw.value };
    let value = match raw.kind.as_str() {
        Some("VARIANT") => PropertyValue::Variant(given.text().unwrap_or_default()),
        Some("TEXT") => PropertyValue::Text(given.text().unwrap_or_default()),
        Some("BOOLEAN") => PropertyValue::Boolean(given.boolean().unwrap_or(false)),
        Some("INSTANCE_SWAP") => PropertyValue::Swap(given.text().unwrap_or_default()),
        _ => PropertyValue::Other,
    };
    (value, raw.options.0.into_iter().filter_map(Scalar::text).collect())
}
