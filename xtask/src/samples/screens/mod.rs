//! Screens made of Hinoki: the guests' app, the hosts' desk and the web site.

mod confirm;
mod desk;
mod explore;
mod parts;
mod signup;
mod stays;

use super::layout::lay_out;
use super::library::{Library, assign, session};
use super::node::Node;

/// Numbers a screen, lays it out and puts it on its canvas.
fn finish(mut screen: Node, x: f64) -> Node {
    let number = session(&format!("screen/{}", screen.name));
    assign(&mut screen, number, &mut 1);
    lay_out(&mut screen, None, None);
    screen.at = (x, 0.0);
    screen
}

/// The pages of the screens' file.
pub fn pages(library: &Library) -> Vec<(String, Vec<Node>)> {
    let phone = [explore::screen(library), signup::screen(library), confirm::screen(library)];
    let desktop = [desk::screen(library), stays::screen(library)];
    let spread = |screens: Vec<Node>, step: f64| {
        screens.into_iter().enumerate().map(|(at, screen)| finish(screen, at as f64 * step)).collect()
    };
    vec![
        ("Guest app".to_owned(), spread(phone.into(), 490.0)),
        ("Desk and web".to_owned(), spread(desktop.into(), 1560.0)),
    ]
}
