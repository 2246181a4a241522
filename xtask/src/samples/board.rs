//! Boards: a library's sets laid out for reading, one page per family.

use super::layout::lay_out;
use super::library::{Library, Set, assign, session};
use super::node::{Node, bare_set, section, text};
use super::paint::{Paint, inter, rgb};

/// Widest row of variants in a set, in pixels.
const SET_WIDTH: f64 = 1560.0;
/// Widest row of sets on a board, in pixels.
const BOARD_WIDTH: f64 = 2400.0;
const MARGIN: f64 = 80.0;

/// Places boxes in rows from left to right; returns the positions and the size of it all.
fn shelves(sizes: &[(f64, f64)], breaks: &[bool], limit: f64, gap: f64) -> (Vec<(f64, f64)>, (f64, f64)) {
    let (mut x, mut y, mut tall, mut wide) = (0.0_f64, 0.0_f64, 0.0_f64, 0.0_f64);
    let mut places = Vec::new();
    for (index, (width, height)) in sizes.iter().enumerate() {
        if x > 0.0 && (x + width > limit || breaks[index]) {
            y += tall + gap;
            (x, tall) = (0.0, 0.0);
        }
        places.push((x, y));
        wide = wide.max(x + width);
        tall = tall.max(*height);
        x += width + gap;
    }
    (places, (wide, y + tall))
}

/// Places boxes like `shelves`, but puts small ones under each other beside a tall one.
fn stacks(sizes: &[(f64, f64)], limit: f64, gap: f64) -> (Vec<(f64, f64)>, (f64, f64)) {
    let (mut y, mut tall, mut wide) = (0.0_f64, 0.0_f64, 0.0_f64);
    // The column that is being filled: its left end, its width, how far down it is full.
    let mut column: Option<(f64, f64, f64)> = None;
    let mut places = Vec::new();
    for (width, height) in sizes.iter().copied() {
        let (x, top) = match column {
            Some((x, _, full)) if full + gap + height <= tall && x + width <= limit => (x, full + gap),
            Some((x, across, _)) if x + across + gap + width <= limit => (x + across + gap, 0.0),
            Some(_) => {
                y += tall + gap;
                tall = 0.0;
                (0.0, 0.0)
            }
            None => (0.0, 0.0),
        };
        let across = column
            .filter(|(left, ..)| top > 0.0 && (left - x).abs() < 0.5)
            .map_or(0.0, |(_, across, _)| across);
        column = Some((x, across.max(width), top + height));
        places.push((x, y + top));
        tall = tall.max(top + height);
        wide = wide.max(x + width);
    }
    (places, (wide, y + tall))
}

/// The node of a set with its variants in a grid, or the single component.
fn set_node(index: usize, set: &Set) -> Node {
    let mut variants: Vec<Node> = set.variants.iter().map(|variant| variant.node.clone()).collect();
    for node in &mut variants {
        lay_out(node, None, None);
    }
    if set.axes.is_empty() {
        return variants.swap_remove(0);
    }
    let per_row = set.axes.last().map_or(1, |(_, values)| values.len());
    let stacked = per_row == set.variants.len()
        && per_row <= 5
        && variants.iter().map(|node| node.size.0).sum::<f64>() > SET_WIDTH;
    let breaks: Vec<_> = (0..variants.len()).map(|at| at % per_row == 0 || stacked).collect();
    let sizes: Vec<_> = variants.iter().map(|node| node.size).collect();
    let (places, (width, height)) = shelves(&sizes, &breaks, SET_WIDTH, 24.0);
    let placed = variants.into_iter().zip(places).map(|(node, (x, y))| node.at(x + 24.0, y + 24.0));
    let mut node =
        bare_set(&set.name, index).children(placed).stroke(rgb(0x97_47_ff), 1.0).dashes(&[10.0, 5.0]);
    node.id.clone_from(&set.id);
    // Light variants want something to stand out from.
    let light = set.axes.iter().any(|(axis, _)| axis == "Ink" || axis == "Ground");
    let node = if light { node.fill(rgb(0xa3_ad_a8)) } else { node };
    node.sized(width + 48.0, height + 48.0).radius(5.0).clip()
}

/// A set with its name and purpose above.
struct Block {
    heading: Vec<Node>,
    node: Node,
    size: (f64, f64),
}

fn block(index: usize, set: &Set) -> Block {
    let mut node = set_node(index, set);
    lay_out(&mut node, None, None);
    if set.name.starts_with("Icon/") {
        let mut name = text("Name", inter("", 400, 11.0, 14.0), set.name.trim_start_matches("Icon/"));
        name = name.fill(rgb(0x6b_6b_6b));
        let size = (96.0, 64.0);
        return Block { heading: vec![name.at(0.0, 34.0)], node: node.at(0.0, 0.0), size };
    }
    let mut heading = vec![
        text("Name", inter("", 600, 20.0, 28.0), &set.name).fill(rgb(0x1e_1e_1e)).at(0.0, 0.0),
        text("Purpose", inter("", 400, 14.0, 20.0), &set.description).fill(rgb(0x6b_6b_6b)).at(0.0, 30.0),
    ];
    for node in &mut heading {
        lay_out(node, None, None);
    }
    let width = heading.iter().map(|node| node.size.0).fold(node.size.0, f64::max);
    let size = (width, node.size.1 + 66.0);
    Block { heading, node: node.at(0.0, 66.0), size }
}

/// The pages of a library: name, and the section with the page's sets.
pub fn pages(library: &Library) -> Vec<(String, Vec<Node>)> {
    let mut names: Vec<&str> = Vec::new();
    for set in &library.sets {
        if !names.contains(&set.page.as_str()) {
            names.push(&set.page);
        }
    }
    names.into_iter().map(|name| (name.to_owned(), vec![board(library, name)])).collect()
}

fn board(library: &Library, page: &str) -> Node {
    let sets = library.sets.iter().enumerate().filter(|(_, set)| set.page == page);
    let blocks: Vec<Block> = sets.map(|(index, set)| block(index, set)).collect();
    let sizes: Vec<_> = blocks.iter().map(|block| block.size).collect();
    let icons = blocks.iter().all(|block| block.node.name.starts_with("Icon/"));
    let (limit, gap) = if icons { (1200.0, 16.0) } else { (BOARD_WIDTH, MARGIN) };
    let (places, (width, height)) = stacks(&sizes, limit, gap);
    let title = text("Title", inter("", 700, 48.0, 56.0).spaced(-1.0), page).fill(rgb(0x1e_1e_1e));
    let mut board = section(page).fill(Paint::Solid(rgb(0xff_ff_ff))).child(title.at(MARGIN, MARGIN));
    let mut next = 1;
    let number = session(&format!("board/{}/{page}", library.name));
    assign(&mut board, number, &mut next);
    for (block, (x, y)) in blocks.into_iter().zip(places) {
        let (left, top) = (x + MARGIN, y + MARGIN + 112.0);
        let mut place = |mut node: Node, own: bool| {
            if own {
                assign(&mut node, number, &mut next);
            }
            let (dx, dy) = match node.pin {
                Some((super::node::Pin::Start(dx), super::node::Pin::Start(dy))) => (dx, dy),
                _ => (0.0, 0.0),
            };
            board.children.push(node.at(left + dx, top + dy));
        };
        for node in block.heading {
            place(node, true);
        }
        place(block.node, false);
    }
    board = board.sized((width + 2.0 * MARGIN).max(640.0), height + 2.0 * MARGIN + 112.0);
    lay_out(&mut board, None, None);
    board
}
