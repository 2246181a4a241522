//! `heddle render`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use heddle_convert::des2wf::WarningEntry;
use heddle_render::{Fonts, Options, PngLimits, png, svg};
use serde_json::json;

use super::work::limits;
use crate::config::ConfigArgs;
use crate::failure::Failure;
use crate::terminal::Terminal;
use crate::{figma, output};

/// Draw a frame of a Figma file as SVG or PNG, without Figma.
///
/// Without -o it lists the frames of the file.
#[derive(Args)]
pub struct Render {
    /// Figma REST JSON, plain or gzip; `-` is stdin.
    file: PathBuf,
    /// The layer, as 12:345 or 12-345 [default: the only frame there is].
    #[arg(long, value_name = "ID")]
    node: Option<String>,
    /// Where to, ending in .svg or .png.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Pixels of the PNG for each of Figma's.
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0)]
    scale: f64,
}

impl Render {
    pub fn run(self, terminal: Terminal, config: &ConfigArgs) -> Result<ExitCode, Failure> {
        if !(self.scale.is_finite() && (0.01..=16.0).contains(&self.scale)) {
            return Err(Failure::usage("--scale takes a factor from 0.01 to 16"));
        }
        let limits = limits(&config.load()?);
        let bytes = figma::load(&self.file, &limits)?;
        let document = figma::document(&self.file, &bytes, &limits)?;
        let Some(target) = &self.output else {
            let frames = figma::frames(&document);
            terminal.result(&frames, || figma::table(&frames))?;
            return Ok(ExitCode::SUCCESS);
        };
        let as_png = match target.extension().map(|e| e.to_string_lossy().to_lowercase()).as_deref() {
            Some("svg") => false,
            Some("png") => true,
            _ => {
                return Err(Failure::usage(format!("{} ends neither in .svg nor in .png", target.display())));
            }
        };
        let index = match figma::frame(&self.file, &document, self.node.as_deref())? {
            Ok(index) => index,
            Err(frames) => {
                terminal.result(&frames, || figma::table(&frames))?;
                return Err(
                    Failure::usage("the file has more than one frame").hint("Name one of them with --node.")
                );
            }
        };
        let picture = svg(&document, index, Fonts::bundled(), &Options::default());
        let node = document.node(index);
        let (width, height, scale) = if as_png {
            let drawn = png(&picture, self.scale, &PngLimits::default())
                .map_err(|error| Failure::new(format!("could not draw {}", node.name)).because(error))?;
            output::write(target, &drawn.bytes)?;
            if drawn.scale < self.scale {
                terminal
                    .say(&format!("The picture was scaled to {:.3} to stay within its limits.", drawn.scale));
            }
            (f64::from(drawn.width), f64::from(drawn.height), drawn.scale)
        } else {
            output::write(target, picture.svg.as_bytes())?;
            (picture.width, picture.height, 1.0)
        };
        let warnings: Vec<_> =
            document.warnings.iter().chain(&picture.warnings).cloned().map(WarningEntry).collect();
        for warning in &warnings {
            terminal
                .say(&format!("warning: {} (×{}): {}", warning.0.code, warning.0.count, warning.0.message));
        }
        let report = json!({
            "node_id": node.id, "name": node.name, "output": target, "width": width, "height": height,
            "scale": scale, "warnings": warnings,
        });
        terminal.result(&report, || {
            format!("{} ({}): {width:.0} × {height:.0}, {}", node.name, node.id, target.display())
        })?;
        Ok(ExitCode::SUCCESS)
    }
}
