//! The project's own samples, built in: so that one binary is enough to try everything. Statics, since a constant of this
//! size is copied into every place that uses it.

/// The wireframe kit, as Figma REST JSON.
pub static WIREFRAME_KIT: &[u8] = include_bytes!("../../../samples/wireframe-kit.json");
/// The design system.
pub static DESIGN_SYSTEM: &[u8] = include_bytes!("../../../samples/design-system.json");
/// The screens made of it.
pub static SCREENS: &[u8] = include_bytes!("../../../samples/screens.json");
