//! The project's own samples, built in: so that one binary is enough to try everything.

/// The wireframe kit, as Figma REST JSON.
pub const WIREFRAME_KIT: &[u8] = include_bytes!("../../../samples/wireframe-kit.json");
/// The design system.
pub const DESIGN_SYSTEM: &[u8] = include_bytes!("../../../samples/design-system.json");
/// The screens made of it.
pub const SCREENS: &[u8] = include_bytes!("../../../samples/screens.json");
