//! The collections' names (D1).

use std::collections::BTreeSet;

use crate::ExchangeError;
use crate::limits::{check_collection, refused};

/// The name of each collection. Every one can be set by an environment variable (see [`Collections::VARIABLES`]).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Collections {
    /// Wireframes of both edges (D4).
    pub wireframe: String,
    /// The wireframe kit (D7).
    pub wireframe_component: String,
    /// The design-system registry.
    pub design_component: String,
    /// Per Figma file: style captures and the sweep's watermark.
    pub project_figma_file: String,
    /// Where completed wf2des results land (D16).
    pub design: String,
    /// Results of des2wf runs (D2).
    pub des2wf_generation_result: String,
    /// Results of wf2des runs (D2).
    pub design_generation_result: String,
    /// Human overrides of the graphic classification (D8).
    pub des2wf_verdict: String,
}

impl Collections {
    /// The environment variable of each collection, and the collection's default name.
    pub const VARIABLES: [(&'static str, &'static str); 8] = [
        ("WIREFRAME_TABLE_NAME", "wireframe"),
        ("WIREFRAME_COMPONENT_TABLE_NAME", "wireframe_component"),
        ("DESIGN_COMPONENT_TABLE_NAME", "design_component"),
        ("PROJECT_FIGMA_FILE_TABLE_NAME", "project_figma_file"),
        ("DESIGN_TABLE_NAME", "design"),
        ("DES2WF_GENERATION_RESULT_TABLE_NAME", "des2wf_generation_result"),
        ("DESIGN_GENERATION_RESULT_TABLE_NAME", "design_generation_result"),
        ("DES2WF_VERDICT_TABLE_NAME", "des2wf_verdict"),
    ];

    /// The names that `variable` gives, else the defaults; a name may be blank, which means unset. Refused: an
    /// illegal name, and one name for two collections, since the registries and the two edges' results must never mix.
    pub fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Result<Self, ExchangeError> {
        let names = Self::VARIABLES.map(|(name, default)| {
            variable(name).filter(|value| !value.trim().is_empty()).unwrap_or_else(|| default.to_owned())
        });
        for ((name, _), value) in Self::VARIABLES.iter().zip(&names) {
            check_collection(value)
                .map_err(|error| ExchangeError::Refused { reason: format!("{name}: {error}") })?;
        }
        if names.iter().collect::<BTreeSet<_>>().len() < names.len() {
            return refused("two of the *_TABLE_NAME variables give the same collection");
        }
        Ok(Self::from_names(names))
    }
}

impl Collections {
    /// By the order of [`Self::VARIABLES`].
    fn from_names(names: [String; 8]) -> Self {
        let [
            wireframe,
            wireframe_component,
            design_component,
            project_figma_file,
            design,
            des2wf_generation_result,
            design_generation_result,
            des2wf_verdict,
        ] = names;
        Self {
            wireframe,
            wireframe_component,
            design_component,
            project_figma_file,
            design,
            des2wf_generation_result,
            design_generation_result,
            des2wf_verdict,
        }
    }
}

impl Default for Collections {
    fn default() -> Self {
        Self::from_names(Self::VARIABLES.map(|(_, default)| default.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // proves D1
    #[test]
    fn every_collection_can_be_renamed_by_its_variable() {
        assert_eq!(Collections::from_variables(|_| None).unwrap(), Collections::default());
        let renamed = Collections::from_variables(|name| Some(format!("x_{}", name.to_lowercase()))).unwrap();
        assert_eq!(renamed.des2wf_verdict, "x_des2wf_verdict_table_name");
        assert_eq!(renamed.wireframe, "x_wireframe_table_name");
        assert_eq!(renamed.project_figma_file, "x_project_figma_file_table_name");
    }

    // proves D6
    #[test]
    fn two_collections_never_share_a_name() {
        let shared =
            |name: &str| (name == "WIREFRAME_COMPONENT_TABLE_NAME").then(|| "design_component".to_owned());
        assert!(Collections::from_variables(shared).is_err());
        assert!(Collections::from_variables(|_| Some("a b".to_owned())).is_err());
    }
}
