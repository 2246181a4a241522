//! Whole files: what `GET /v1/files/:key` answers.

use super::emit::{Emitter, color, style_key};
use super::json::{Json, object};
use super::library::{Library, session};
use super::node::Node;
use super::paint::rgb;

/// A file.
pub struct File<'a> {
    /// Its name.
    pub name: &'static str,
    /// Its version, a number of Figma's.
    pub version: &'static str,
    /// The library that its components are from: its own, or a remote one.
    pub library: &'a Library,
    /// Pages: name and what lies on them, laid out.
    pub pages: Vec<(String, Vec<Node>)>,
}

impl File<'_> {
    /// Prints the file.
    pub fn print(&self) -> String {
        let mut emitter = Emitter::new(self.library);
        let mut pages = Vec::new();
        for (name, nodes) in &self.pages {
            let number = session(&format!("page/{}/{name}", self.name));
            let children = nodes.iter().map(|node| emitter.top(node)).collect();
            pages.push(object([
                ("id", format!("{number}:0").into()),
                ("name", name.as_str().into()),
                ("type", "CANVAS".into()),
                ("scrollBehavior", "SCROLLS".into()),
                ("backgroundColor", color(rgb(0xf2_f2_f2))),
                ("prototypeStartNodeID", Json::Null),
                ("flowStartingPoints", Json::List(Vec::new())),
                ("prototypeDevice", object([("type", "NONE".into()), ("rotation", "NONE".into())])),
                ("children", Json::Lines(children)),
            ]));
        }
        let document = object([
            ("id", "0:0".into()),
            ("name", "Document".into()),
            ("type", "DOCUMENT".into()),
            ("scrollBehavior", "SCROLLS".into()),
            ("children", Json::Lines(pages)),
        ]);
        let (components, sets) = self.components(&emitter);
        let file = object([
            ("document", document),
            ("components", components),
            ("componentSets", sets),
            ("schemaVersion", Json::Int(0)),
            ("styles", self.styles(&emitter)),
            ("name", self.name.into()),
            ("lastModified", "2025-11-03T09:00:00Z".into()),
            ("thumbnailUrl", "https://example.com/thumbnail.png".into()),
            ("version", self.version.into()),
            ("role", "viewer".into()),
            ("editorType", "figma".into()),
            ("linkAccess", "view".into()),
        ]);
        let mut out = String::new();
        file.print(&mut out);
        out.push('\n');
        out
    }

    fn components(&self, emitter: &Emitter) -> (Json, Json) {
        let remote = self.library.remote;
        let (mut components, mut sets) = (Vec::new(), Vec::new());
        for set in &self.library.sets {
            let in_use = |id: &String| !remote || emitter.components.contains(id);
            let mut any = false;
            for variant in set.variants.iter().filter(|variant| in_use(&variant.node.id)) {
                any = true;
                let single = set.axes.is_empty();
                let description = if single { set.description.as_str() } else { "" };
                let mut entry = object([
                    ("key", variant.key.as_str().into()),
                    ("name", variant.node.name.as_str().into()),
                    ("description", description.into()),
                    ("remote", remote.into()),
                ]);
                if !single {
                    entry.put("componentSetId", set.id.as_str());
                }
                entry.put("documentationLinks", Json::List(Vec::new()));
                components.push((variant.node.id.clone(), entry));
            }
            if any && !set.axes.is_empty() {
                let entry = object([
                    ("key", set.key.as_str().into()),
                    ("name", set.name.as_str().into()),
                    ("description", set.description.as_str().into()),
                    ("remote", remote.into()),
                    ("documentationLinks", Json::List(Vec::new())),
                ]);
                sets.push((set.id.clone(), entry));
            }
        }
        (Json::Object(components), Json::Object(sets))
    }

    fn styles(&self, emitter: &Emitter) -> Json {
        let entry = |(id, (name, kind)): (&String, &(&'static str, &'static str))| {
            let entry = object([
                ("key", style_key(self.library, name).into()),
                ("name", (*name).into()),
                ("styleType", (*kind).into()),
                ("remote", self.library.remote.into()),
                ("description", "".into()),
            ]);
            (id.clone(), entry)
        };
        Json::Object(emitter.styles.iter().map(entry).collect())
    }
}
