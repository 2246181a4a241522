//! Designs to wireframes: kits, selection, graphics, assembly, score. Bytes and documents in, documents and
//! warnings out; no I/O, no clock, no randomness: the same input gives the same bytes.
//!
//! The way of a conversion (edge des2wf, [`des2wf::convert`]):
//! [`outline`] says what each layer of the frame is for → [`select`] finds the kit's rows that may stand for its
//! components, hard guards first → [`graphics`] decides which artwork carries meaning → [`assemble`] builds the
//! [`wireframe`], every node with the source ids it stands for → [`score`] measures the result by that provenance.
//! [`sweep`] turns a library file into the registry's documents, [`kit`] reads those back; [`preview`] draws a
//! wireframe with the kit's own masters.

pub mod assemble;
pub mod des2wf;
pub mod graphics;
pub mod kit;
pub mod lexicon;
pub mod library;
mod number;
pub mod outline;
mod place;
pub mod preview;
mod reading;
pub mod score;
pub mod select;
mod slots;
mod strings;
pub mod sweep;
pub mod wireframe;
