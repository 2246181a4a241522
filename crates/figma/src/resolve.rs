//! From what stands in the file to what it means: enums, runs, who is shown, and where everything lies.

use std::borrow::Cow;
use std::f64::consts::TAU;
use std::mem::take;

use crate::lenient::{List, Object, Scalar};
use crate::raw::{RawNode, RawProperty};
use crate::{
    Affine, Align, Arc, AutoLayout, Axis, BooleanOperation, ComponentFacts, Constraint, Kind, Mask, Node,
    Point, PropertyDefinition, Rect, Size, Sizing, Warnings, style, text,
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

/// Fills a node from its raw fields and gives back what of its place is still open.
pub(crate) fn fill_in<'a>(node: &mut Node<'a>, mut raw: RawNode<'a>, warnings: &mut Warnings) -> RawGeometry {
    node.id = raw.take_id();
    node.kind = raw.kind.as_str().map_or(Kind::Unknown, Kind::from_name);
    if node.kind == Kind::Unknown {
        let name = raw.kind.as_str().unwrap_or("(none)").to_owned();
        warnings.add("unknown_type", Some(&node.id), || {
            format!("type {name:?} is not known: read as a plain layer")
        });
    }
    let geometry = take_geometry(&raw, node, warnings);
    node.stroke = style::stroke(&raw).map(Box::new);
    node.layout = auto_layout(&raw).map(Box::new);
    node.component = facts(&mut raw).map(Box::new);
    node.name = raw.name.text().unwrap_or_default();
    node.visible = raw.visible.boolean().unwrap_or(true);
    node.opacity = raw.opacity.number().unwrap_or(1.0).clamp(0.0, 1.0);
    node.blend = raw.blend.as_str().and_then(style::blend);
    node.fills = style::paints(raw.fills.as_ref().unwrap_or(&raw.background));
    node.radii = style::radii(&raw.radius, &raw.radii);
    node.effects = raw
        .effects
        .0
        .into_iter()
        .filter_map(|Object(e)| style::effect(&e?))
        .take(style::MOST_PAINTS)
        .collect();
    node.mask = raw.is_mask.boolean().unwrap_or(false).then(|| match raw.mask_type.as_str() {
        Some("VECTOR") => Mask::Outline,
        Some("LUMINANCE") => Mask::Luminance,
        _ if raw.is_mask_outline.boolean() == Some(true) => Mask::Outline,
        _ => Mask::Alpha,
    });
    node.clips = raw.clips.boolean().unwrap_or(false);
    node.fill_geometry = style::paths(raw.fill_geometry);
    node.stroke_geometry = style::paths(raw.stroke_geometry);
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
    node.placement.absolute = raw.layout_positioning.as_str() == Some("ABSOLUTE");
    if let Some(constraints) = raw.constraints.0 {
        node.placement.constraint_x = constraint(&constraints.horizontal);
        node.placement.constraint_y = constraint(&constraints.vertical);
    }
    // Only texts say something; of types that are not known, whoever has characters.
    if let Scalar::Text(characters) = raw.characters
        && matches!(node.kind, Kind::Text | Kind::Unknown)
    {
        let base = raw.style.0.unwrap_or(raw.own_style);
        let text = text(characters, &base, &raw.style_overrides.0, &raw.style_table.0);
        node.text = Some(Box::new(text));
    }
    node.styles = raw.styles.0.into_iter().filter_map(|(field, id)| Some((field, id.text()?))).collect();
    node.exported = !raw.exports.0.is_empty();
    geometry
}

fn auto_layout(raw: &RawNode<'_>) -> Option<AutoLayout> {
    let axis = axis(raw.layout_mode.as_str())?;
    let number = |v: &Scalar<'_>| v.number().unwrap_or(0.0);
    let (spacing, counter_spacing) = match axis {
        Axis::Grid => (number(&raw.grid_column_gap), number(&raw.grid_row_gap)),
        _ => (number(&raw.spacing), number(&raw.counter_spacing)),
    };
    let padding = [&raw.padding_top, &raw.padding_right, &raw.padding_bottom, &raw.padding_left];
    Some(AutoLayout {
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
}

/// What ties the node to components, where anything does.
fn facts<'a>(raw: &mut RawNode<'a>) -> Option<ComponentFacts<'a>> {
    let property = |(key, Object(property)): (Cow<'a, str>, Object<RawProperty<'a>>)| {
        Some((key, style::value(property?, false).0))
    };
    let definition = |(key, Object(property)): (Cow<'a, str>, Object<RawProperty<'a>>)| {
        let (default, options) = style::value(property?, true);
        Some(PropertyDefinition { key, default, options })
    };
    let facts = ComponentFacts {
        component_id: take(&mut raw.component_id).text(),
        properties: take(&mut raw.properties.0).into_iter().filter_map(property).collect(),
        definitions: take(&mut raw.definitions.0).into_iter().filter_map(definition).collect(),
        references: take(&mut raw.references.0)
            .into_iter()
            .filter_map(|(of, key)| Some((of, key.text()?)))
            .collect(),
        overrides: take(&mut raw.overrides.0).into_iter().filter_map(|Object(o)| o?.id.text()).collect(),
    };
    (facts != ComponentFacts::default()).then_some(facts)
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
                warnings.add("no_bounds", Some(&node.id), || {
                    "a layer has no box: taken from what it holds".to_owned()
                });
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
        warnings
            .add("duplicate_id", Some(pair[0]), || format!("more than one layer has the id {:?}", pair[0]));
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

pub(crate) fn matrix(rows: &List<List<Scalar<'_>>>) -> Option<Affine> {
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
