//! No circle between files: whoever changes one file of a circle has to know all of it.

use std::collections::{BTreeMap, BTreeSet};

use crate::names::{Names, Target};
use crate::tree::Breaches;

/// For each file, the files that it uses, each with a place where it does.
type Graph = BTreeMap<String, BTreeMap<String, String>>;

/// The files that stand in a circle, each with the circle's arrows that start at it.
pub(crate) fn circles(names: &Names) -> Breaches {
    let graph = graph(names);
    let mut breaches = Breaches::new();
    for circle in components(&graph) {
        for file in &circle {
            let arrows: Vec<String> = graph[file]
                .iter()
                .filter(|(to, _)| circle.contains(*to))
                .map(|(to, place)| format!("\n        -> {to} ({place})"))
                .collect();
            breaches.insert(file.clone(), format!("in a circle of {} files{}", circle.len(), arrows.concat()));
        }
    }
    breaches
}

fn graph(names: &Names) -> Graph {
    let mut graph = Graph::new();
    for arrow in names.arrows() {
        // A module's name alone is used by what is taken from the module.
        let Target::Item(module) = &arrow.target else { continue };
        let to = names.file(module).to_owned();
        graph.entry(to.clone()).or_default();
        let uses = graph.entry(arrow.from.clone()).or_default();
        if to != arrow.from {
            uses.entry(to).or_insert_with(|| format!("line {}: {}", arrow.line, arrow.path));
        }
    }
    graph
}

/// The sets of more than one file that all reach each other.
fn components(graph: &Graph) -> Vec<BTreeSet<String>> {
    let reached: BTreeMap<&String, BTreeSet<&String>> = graph.keys().map(|file| (file, reach(graph, file))).collect();
    let mut found = Vec::new();
    let mut done = BTreeSet::new();
    for (file, others) in &reached {
        let circle: BTreeSet<String> =
            others.iter().filter(|other| reached[**other].contains(file)).map(|other| (*other).clone()).collect();
        if circle.len() > 1 && done.insert((*file).clone()) {
            done.extend(circle.iter().cloned());
            found.push(circle);
        }
    }
    found
}

/// Every file that can be come to from this one.
fn reach<'a>(graph: &'a Graph, start: &String) -> BTreeSet<&'a String> {
    let mut reached = BTreeSet::new();
    let mut waiting: Vec<&String> = graph[start].keys().collect();
    while let Some(file) = waiting.pop() {
        if reached.insert(file) {
            waiting.extend(graph[file].keys());
        }
    }
    reached
}
