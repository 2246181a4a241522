//! `KIT OUT_DIR FILE[#NODE]…`: converts a frame of each file and writes `source.png` and `preview.png`.
use heddle_figma::Limits;
use heddle_worker::conversion::{Failure, Frame, Pictures, convert, kit_of_file};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let kit_path = arguments.next().expect("a kit");
    let out = arguments.next().expect("a folder");
    let kit = std::fs::read(kit_path).expect("the kit");
    let (entries, libraries) = kit_of_file(&[("kit".to_owned(), kit)], &Limits::default()).expect("a kit");
    for argument in arguments {
        let (path, node) = argument.split_once('#').map_or((argument.as_str(), None), |(p, n)| (p, Some(n)));
        let source = std::fs::read(path).expect("the file");
        let name = path.rsplit('/').next().unwrap_or(path).split('.').next().unwrap_or_default().to_owned();
        let mut input = Frame {
            source: &source,
            node_id: node,
            kit: &entries,
            design: &[],
            libraries: &libraries,
            pictures: Pictures::Png,
            snapshot: false,
            limits: Limits::default(),
            wireframe_id: &|id| id.to_owned(),
        };
        let mut made = convert(&input);
        let first;
        if let Err(Failure::ManyFrames { frames }) = &made {
            for (id, name) in frames.iter().take(30) {
                println!("  {id} {name}");
            }
            first = frames[0].0.clone();
            input.node_id = Some(&first);
            made = convert(&input);
        }
        match made {
            Ok(made) => {
                println!("{name} {}: {:?} {:?}", made.node_id, made.score(), made.timings_ms);
                for artifact in &made.files {
                    let file = format!(
                        "{out}/{name}{}.{}",
                        node.unwrap_or_default().replace(':', "_"),
                        artifact.file_name
                    );
                    std::fs::write(file, &artifact.bytes).expect("writing");
                }
            }
            Err(error) => println!("{name}: {error}"),
        }
    }
}
