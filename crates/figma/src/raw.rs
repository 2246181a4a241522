//! The objects of Figma's JSON as they stand, before anything is resolved.

use std::borrow::Cow;

use serde::de::MapAccess;

use crate::lenient::{Entries, Fields, List, Object, Scalar};
use crate::{Color, Point};

/// `Fields` for a struct whose keys are read into fields of the same meaning.
macro_rules! fields {
    ($type:ident<$de:lifetime> { $($($key:literal)|+ => $field:ident),* $(,)? }) => {
        impl<$de> Fields<$de> for $type<$de> {
            fn field<A: MapAccess<$de>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error> {
                match key {
                    $($($key)|+ => self.$field = map.next_value()?,)*
                    _ => return Ok(false),
                }
                Ok(true)
            }
        }
    };
}

#[derive(Default)]
pub(crate) struct RawRect<'de> {
    pub x: Scalar<'de>,
    pub y: Scalar<'de>,
    pub width: Scalar<'de>,
    pub height: Scalar<'de>,
}

// Capitalised, as some re-serialisers write them.
fields!(RawRect<'de> { "x" | "X" => x, "y" | "Y" => y, "width" | "Width" => width, "height" | "Height" => height });

pub(crate) type RawPoint<'de> = RawRect<'de>;

pub(crate) fn point(raw: &RawPoint<'_>) -> Option<Point> {
    Some(Point { x: raw.x.number()?, y: raw.y.number()? })
}

#[derive(Default)]
pub(crate) struct RawColor<'de> {
    r: Scalar<'de>,
    g: Scalar<'de>,
    b: Scalar<'de>,
    a: Scalar<'de>,
}

fields!(RawColor<'de> { "r" => r, "g" => g, "b" => b, "a" => a });

pub(crate) fn color(raw: &RawColor<'_>) -> Color {
    let part = |v: &Scalar<'_>, default: f64| v.number().unwrap_or(default).clamp(0.0, 1.0);
    Color { r: part(&raw.r, 0.0), g: part(&raw.g, 0.0), b: part(&raw.b, 0.0), a: part(&raw.a, 1.0) }
}

#[derive(Default)]
pub(crate) struct RawStop<'de> {
    pub position: Scalar<'de>,
    pub color: Object<RawColor<'de>>,
}

fields!(RawStop<'de> { "position" => position, "color" => color });

#[derive(Default)]
pub(crate) struct RawPaint<'de> {
    pub kind: Scalar<'de>,
    pub visible: Scalar<'de>,
    pub opacity: Scalar<'de>,
    pub blend: Scalar<'de>,
    pub color: Object<RawColor<'de>>,
    pub handles: List<Object<RawPoint<'de>>>,
    pub gradient_transform: List<List<Scalar<'de>>>,
    pub stops: List<Object<RawStop<'de>>>,
    pub image: Scalar<'de>,
    pub scale: Scalar<'de>,
    pub transform: List<List<Scalar<'de>>>,
}

fields!(RawPaint<'de> {
    "type" => kind, "visible" => visible, "opacity" => opacity, "blendMode" => blend, "color" => color,
    "gradientHandlePositions" => handles, "gradientTransform" => gradient_transform, "gradientStops" => stops,
    "imageRef" | "imageHash" => image, "scaleMode" => scale, "imageTransform" => transform,
});

#[derive(Default)]
pub(crate) struct RawEffect<'de> {
    pub kind: Scalar<'de>,
    pub visible: Scalar<'de>,
    pub color: Object<RawColor<'de>>,
    pub offset: Object<RawPoint<'de>>,
    pub radius: Scalar<'de>,
    pub spread: Scalar<'de>,
}

fields!(RawEffect<'de> {
    "type" => kind, "visible" => visible, "color" => color, "offset" => offset, "radius" => radius,
    "spread" => spread,
});

#[derive(Default)]
pub(crate) struct RawPath<'de> {
    pub data: Scalar<'de>,
    pub rule: Scalar<'de>,
}

fields!(RawPath<'de> { "path" | "data" => data, "windingRule" => rule });

#[derive(Default)]
pub(crate) struct RawArc<'de> {
    pub start: Scalar<'de>,
    pub end: Scalar<'de>,
    pub inner: Scalar<'de>,
}

fields!(RawArc<'de> { "startingAngle" => start, "endingAngle" => end, "innerRadius" => inner });

#[derive(Default)]
pub(crate) struct RawConstraints<'de> {
    pub horizontal: Scalar<'de>,
    pub vertical: Scalar<'de>,
}

fields!(RawConstraints<'de> { "horizontal" => horizontal, "vertical" => vertical });

#[derive(Default)]
pub(crate) struct RawSides<'de> {
    pub top: Scalar<'de>,
    pub right: Scalar<'de>,
    pub bottom: Scalar<'de>,
    pub left: Scalar<'de>,
}

fields!(RawSides<'de> { "top" => top, "right" => right, "bottom" => bottom, "left" => left });

#[derive(Default)]
pub(crate) struct RawProperty<'de> {
    pub kind: Scalar<'de>,
    pub value: Scalar<'de>,
    pub default: Scalar<'de>,
    pub options: List<Scalar<'de>>,
}

fields!(RawProperty<'de> {
    "type" => kind, "value" => value, "defaultValue" => default, "variantOptions" => options,
});

#[derive(Default)]
pub(crate) struct RawFontName<'de> {
    pub family: Scalar<'de>,
    pub style: Scalar<'de>,
}

fields!(RawFontName<'de> { "family" => family, "style" => style });

#[derive(Default)]
pub(crate) struct RawTextStyle<'de> {
    pub family: Scalar<'de>,
    pub postscript_name: Scalar<'de>,
    pub weight: Scalar<'de>,
    pub italic: Scalar<'de>,
    pub size: Scalar<'de>,
    pub line_height: Scalar<'de>,
    pub letter_spacing: Scalar<'de>,
    pub case: Scalar<'de>,
    pub decoration: Scalar<'de>,
    pub align: Scalar<'de>,
    pub align_vertical: Scalar<'de>,
    pub resize: Scalar<'de>,
    pub truncation: Scalar<'de>,
    pub max_lines: Scalar<'de>,
    pub paragraph_spacing: Scalar<'de>,
    pub fills: Option<List<Object<RawPaint<'de>>>>,
}

impl<'de> Fields<'de> for RawTextStyle<'de> {
    fn field<A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error> {
        match key {
            "fontFamily" => self.family = map.next_value()?,
            "fontPostScriptName" => self.postscript_name = map.next_value()?,
            "fontWeight" => self.weight = map.next_value()?,
            "italic" => self.italic = map.next_value()?,
            "fontSize" => self.size = map.next_value()?,
            "lineHeightPx" => self.line_height = map.next_value()?,
            "letterSpacing" => self.letter_spacing = map.next_value()?,
            "textCase" => self.case = map.next_value()?,
            "textDecoration" => self.decoration = map.next_value()?,
            "textAlignHorizontal" => self.align = map.next_value()?,
            "textAlignVertical" => self.align_vertical = map.next_value()?,
            "textAutoResize" => self.resize = map.next_value()?,
            "textTruncation" => self.truncation = map.next_value()?,
            "maxLines" => self.max_lines = map.next_value()?,
            "paragraphSpacing" => self.paragraph_spacing = map.next_value()?,
            "fills" => self.fills = Some(map.next_value()?),
            // As the plugin API has it on the node itself.
            "fontName" => {
                if let Object(Some(name)) = map.next_value::<Object<RawFontName<'de>>>()? {
                    self.family = name.family;
                    self.postscript_name = name.style;
                }
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}

#[derive(Default)]
pub(crate) struct RawOverride<'de> {
    pub id: Scalar<'de>,
}

fields!(RawOverride<'de> { "id" => id });

#[derive(Default)]
pub(crate) struct RawMeta<'de> {
    pub key: Scalar<'de>,
    pub name: Scalar<'de>,
    pub set_id: Scalar<'de>,
    pub remote: Scalar<'de>,
    pub style_type: Scalar<'de>,
}

fields!(RawMeta<'de> {
    "key" => key, "name" => name, "componentSetId" => set_id, "remote" => remote,
    "styleType" | "style_type" => style_type,
});

/// A node less its children.
#[derive(Default)]
pub(crate) struct RawNode<'de> {
    pub id: Scalar<'de>,
    pub name: Scalar<'de>,
    pub kind: Scalar<'de>,
    pub visible: Scalar<'de>,
    pub bounds: Object<RawRect<'de>>,
    pub render_bounds: Object<RawRect<'de>>,
    pub transform: List<List<Scalar<'de>>>,
    pub size: Object<RawPoint<'de>>,
    pub rotation: Scalar<'de>,
    pub x: Scalar<'de>,
    pub y: Scalar<'de>,
    pub width: Scalar<'de>,
    pub height: Scalar<'de>,
    pub opacity: Scalar<'de>,
    pub blend: Scalar<'de>,
    pub fills: Option<List<Object<RawPaint<'de>>>>,
    pub background: List<Object<RawPaint<'de>>>,
    pub strokes: List<Object<RawPaint<'de>>>,
    pub stroke_weight: Scalar<'de>,
    pub stroke_sides: Object<RawSides<'de>>,
    pub stroke_align: Scalar<'de>,
    pub stroke_cap: Scalar<'de>,
    pub stroke_join: Scalar<'de>,
    pub dashes: List<Scalar<'de>>,
    pub radius: Scalar<'de>,
    pub radii: List<Scalar<'de>>,
    pub effects: List<Object<RawEffect<'de>>>,
    pub is_mask: Scalar<'de>,
    pub is_mask_outline: Scalar<'de>,
    pub mask_type: Scalar<'de>,
    pub clips: Scalar<'de>,
    pub fill_geometry: List<Object<RawPath<'de>>>,
    pub stroke_geometry: List<Object<RawPath<'de>>>,
    pub arc: Object<RawArc<'de>>,
    pub boolean_operation: Scalar<'de>,
    pub layout_mode: Scalar<'de>,
    pub layout_wrap: Scalar<'de>,
    pub layout_positioning: Scalar<'de>,
    pub layout_align: Scalar<'de>,
    pub layout_grow: Scalar<'de>,
    pub sizing_horizontal: Scalar<'de>,
    pub sizing_vertical: Scalar<'de>,
    pub primary_sizing: Scalar<'de>,
    pub counter_sizing: Scalar<'de>,
    pub primary_align: Scalar<'de>,
    pub counter_align: Scalar<'de>,
    pub spacing: Scalar<'de>,
    pub counter_spacing: Scalar<'de>,
    pub grid_row_gap: Scalar<'de>,
    pub grid_column_gap: Scalar<'de>,
    pub padding_top: Scalar<'de>,
    pub padding_right: Scalar<'de>,
    pub padding_bottom: Scalar<'de>,
    pub padding_left: Scalar<'de>,
    pub reverse_z: Scalar<'de>,
    pub strokes_included: Scalar<'de>,
    pub constraints: Object<RawConstraints<'de>>,
    pub characters: Scalar<'de>,
    pub style: Object<RawTextStyle<'de>>,
    /// Text fields on the node itself, as the plugin API has them.
    pub own_style: RawTextStyle<'de>,
    pub style_overrides: List<Scalar<'de>>,
    pub style_table: Entries<'de, Object<RawTextStyle<'de>>>,
    pub component_id: Scalar<'de>,
    pub properties: Entries<'de, Object<RawProperty<'de>>>,
    pub definitions: Entries<'de, Object<RawProperty<'de>>>,
    pub references: Entries<'de, Scalar<'de>>,
    pub overrides: List<Object<RawOverride<'de>>>,
    pub styles: Entries<'de, Scalar<'de>>,
    pub exports: List<Scalar<'de>>,
}

impl<'de> Fields<'de> for RawNode<'de> {
    fn field<A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error> {
        match key {
            "id" => self.id = map.next_value()?,
            "name" => self.name = map.next_value()?,
            "type" => self.kind = map.next_value()?,
            "visible" => self.visible = map.next_value()?,
            "absoluteBoundingBox" => self.bounds = map.next_value()?,
            "absoluteRenderBounds" => self.render_bounds = map.next_value()?,
            "relativeTransform" => self.transform = map.next_value()?,
            "size" => self.size = map.next_value()?,
            "rotation" => self.rotation = map.next_value()?,
            "x" => self.x = map.next_value()?,
            "y" => self.y = map.next_value()?,
            "width" => self.width = map.next_value()?,
            "height" => self.height = map.next_value()?,
            "opacity" => self.opacity = map.next_value()?,
            "blendMode" => self.blend = map.next_value()?,
            "fills" => self.fills = Some(map.next_value()?),
            "background" | "backgrounds" => self.background = map.next_value()?,
            "strokes" => self.strokes = map.next_value()?,
            "strokeWeight" => self.stroke_weight = map.next_value()?,
            "individualStrokeWeights" => self.stroke_sides = map.next_value()?,
            "strokeAlign" => self.stroke_align = map.next_value()?,
            "strokeCap" => self.stroke_cap = map.next_value()?,
            "strokeJoin" => self.stroke_join = map.next_value()?,
            "strokeDashes" | "dashPattern" => self.dashes = map.next_value()?,
            "cornerRadius" => self.radius = map.next_value()?,
            "rectangleCornerRadii" => self.radii = map.next_value()?,
            "effects" => self.effects = map.next_value()?,
            "isMask" => self.is_mask = map.next_value()?,
            "isMaskOutline" => self.is_mask_outline = map.next_value()?,
            "maskType" => self.mask_type = map.next_value()?,
            "clipsContent" => self.clips = map.next_value()?,
            "fillGeometry" => self.fill_geometry = map.next_value()?,
            "strokeGeometry" => self.stroke_geometry = map.next_value()?,
            "arcData" => self.arc = map.next_value()?,
            "booleanOperation" => self.boolean_operation = map.next_value()?,
            "layoutMode" => self.layout_mode = map.next_value()?,
            "layoutWrap" => self.layout_wrap = map.next_value()?,
            "layoutPositioning" => self.layout_positioning = map.next_value()?,
            "layoutAlign" => self.layout_align = map.next_value()?,
            "layoutGrow" => self.layout_grow = map.next_value()?,
            "layoutSizingHorizontal" => self.sizing_horizontal = map.next_value()?,
            "layoutSizingVertical" => self.sizing_vertical = map.next_value()?,
            "primaryAxisSizingMode" => self.primary_sizing = map.next_value()?,
            "counterAxisSizingMode" => self.counter_sizing = map.next_value()?,
            "primaryAxisAlignItems" => self.primary_align = map.next_value()?,
            "counterAxisAlignItems" => self.counter_align = map.next_value()?,
            "itemSpacing" => self.spacing = map.next_value()?,
            "counterAxisSpacing" => self.counter_spacing = map.next_value()?,
            "gridRowGap" => self.grid_row_gap = map.next_value()?,
            "gridColumnGap" => self.grid_column_gap = map.next_value()?,
            "paddingTop" => self.padding_top = map.next_value()?,
            "paddingRight" => self.padding_right = map.next_value()?,
            "paddingBottom" => self.padding_bottom = map.next_value()?,
            "paddingLeft" => self.padding_left = map.next_value()?,
            "itemReverseZIndex" => self.reverse_z = map.next_value()?,
            "strokesIncludedInLayout" => self.strokes_included = map.next_value()?,
            "constraints" => self.constraints = map.next_value()?,
            "characters" => self.characters = map.next_value()?,
            "style" => self.style = map.next_value()?,
            "characterStyleOverrides" => self.style_overrides = map.next_value()?,
            "styleOverrideTable" => self.style_table = map.next_value()?,
            "componentId" => self.component_id = map.next_value()?,
            "componentProperties" => self.properties = map.next_value()?,
            "componentPropertyDefinitions" => self.definitions = map.next_value()?,
            "componentPropertyReferences" => self.references = map.next_value()?,
            "overrides" => self.overrides = map.next_value()?,
            "styles" => self.styles = map.next_value()?,
            "exportSettings" => self.exports = map.next_value()?,
            other => return self.own_style.field(other, map),
        }
        Ok(true)
    }
}

impl<'de> RawNode<'de> {
    /// The id, or an empty one.
    pub(crate) fn take_id(&mut self) -> Cow<'de, str> {
        std::mem::take(&mut self.id).text().unwrap_or_default()
    }
}
