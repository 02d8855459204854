//! An adapter in Rust: RocketMQ's AVG, answered as JSON lines (docs/adapters.md).

use serde_json::{json, Value};
use std::io::{stdin, stdout, BufRead, Write};

/// AllocateMessageQueueAveragely#allocate.
fn average(a: &Value) -> Result<Value, String> {
    let list = |name: &str| {
        let found = a[name].as_array().filter(|all| !all.is_empty());
        found.ok_or(format!("{name} is null or empty"))
    };
    let (queues, members) = (list("mqAll")?, list("cidAll")?);
    if a["cid"].as_str().unwrap_or("").is_empty() {
        return Err("currentCID is empty".into());
    }
    let Some(index) = members.iter().position(|one| *one == a["cid"]) else {
        return Ok(json!([]));
    };
    let (share, more) = (queues.len() / members.len(), queues.len() % members.len());
    let start = index * share + index.min(more);
    let end = start + share + usize::from(index < more);
    Ok(json!(queues[start..end]))
}

fn answer(function: &Value, a: &Value) -> Value {
    let answered = match function.as_str() {
        Some("allocate" | "AVG") => average(a),
        _ => Err("no such function".into()),
    };
    match answered {
        Ok(result) => json!({"r": result}),
        Err(text) => json!({"e": "IllegalArgument", "m": text}),
    }
}

fn main() {
    let mut out = stdout().lock();
    for line in stdin().lock().lines() {
        let asked: Value = serde_json::from_str(&line.unwrap()).unwrap();
        let mut reply = match asked["do"].as_str() {
            Some("hello") => json!({"protocol": 1, "name": "example in Rust", "batch": true,
                                    "functions": ["allocate", "AVG"]}),
            _ => {
                let calls = asked["calls"].as_array().unwrap().iter();
                json!({"answers": calls.map(|a| answer(&asked["function"], a)).collect::<Vec<_>>()})
            }
        };
        reply["id"] = asked["id"].clone();
        writeln!(out, "{reply}").unwrap();
        out.flush().unwrap();
    }
}
