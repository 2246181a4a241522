//! What an icon's name says that it shows. A layer called `chevron-right` is drawn as one, in our own plain strokes,
//! where the file has no outline for it; a name that says nothing gets a neutral mark.

/// A plain icon on a grid of 24 by 24.
#[derive(Debug, PartialEq)]
pub struct Icon {
    /// Words that call it.
    words: &'static [&'static str],
    /// Path data, to be stroked with round ends.
    pub data: &'static str,
    /// What the strokes' middles cover: left, top, right, bottom.
    pub ink: [f64; 4],
}

macro_rules! icons {
    ($($name:ident $words:expr, $ink:expr, $data:literal;)*) => {
        $(const $name: Icon = Icon { words: &$words, data: $data, ink: $ink };)*
        /// All of them; the first that a name calls is taken.
        const ICONS: &[Icon] = &[$($name),*];
    };
}

icons! {
    CHEVRON_RIGHT [], [9.0, 5.0, 16.0, 19.0], "M9 5l7 7-7 7";
    CHEVRON_LEFT [], [8.0, 5.0, 15.0, 19.0], "M15 5l-7 7 7 7";
    CHEVRON_DOWN ["dropdown", "expand", "unfold"], [5.0, 9.0, 19.0, 16.0], "M5 9l7 7 7-7";
    CHEVRON_UP ["collapse"], [5.0, 8.0, 19.0, 15.0], "M5 15l7-7 7 7";
    ARROW_RIGHT ["forward", "next"], [4.0, 6.0, 20.0, 18.0], "M4 12h16m-6-6l6 6-6 6";
    ARROW_LEFT ["back", "previous", "prev", "return"], [4.0, 6.0, 20.0, 18.0], "M20 12H4m6-6l-6 6 6 6";
    ARROW_UP [], [6.0, 4.0, 18.0, 20.0], "M12 20V4m-6 6l6-6 6 6";
    ARROW_DOWN [], [6.0, 4.0, 18.0, 20.0], "M12 4v16m-6-6l6 6 6-6";
    LOG_OUT ["logout", "signout", "exit", "logoff"], [5.0, 4.0, 20.0, 20.0], "M10 4H5v16h5m5-12l5 4-5 4m-6-4h11";
    BELL ["bell", "notification", "notifications", "notific", "alarm"], [4.5, 4.0, 19.5, 21.0],
        "M6 16v-6a6 6 0 0 1 12 0v6l1.5 2h-15zM10 20.5a2 2 0 0 0 4 0";
    CART ["cart", "basket", "trolley"], [3.0, 4.0, 20.5, 20.5], "M3 4h2.5l2 11h10.5l2.5-8H6.2M9 20h.01M17 20h.01";
    BAG ["bag", "shop", "store", "shopping"], [4.0, 4.0, 20.0, 20.0], "M5 8h14l1 12H4zM9 8V7a3 3 0 0 1 6 0v1";
    CHAT ["chat", "message", "messages", "comment", "comments", "conversation", "sms"], [4.0, 5.0, 20.0, 20.0],
        "M4 5h16v11H10l-4 4v-4H4z";
    MAIL ["mail", "email", "envelope", "inbox"], [3.0, 6.0, 21.0, 18.0], "M3 6h18v12H3zM3 7l9 7 9-7";
    DOWNLOAD ["download"], [4.0, 4.0, 20.0, 19.5], "M12 4v11m-4.5-4.5L12 15l4.5-4.5M4 19.5h16";
    UPLOAD ["upload", "export"], [4.0, 4.0, 20.0, 19.5], "M12 15V4M7.5 8.5L12 4l4.5 4.5M4 19.5h16";
    CLOSE ["close", "cross", "cancel", "dismiss", "clear"], [5.0, 5.0, 19.0, 19.0], "M5 5l14 14M19 5L5 19";
    CHECK ["check", "tick", "done", "checkmark", "success"], [4.0, 6.5, 20.0, 17.5], "M4 12.5l5 5 11-11";
    PLUS ["plus", "add", "new", "create"], [4.0, 4.0, 20.0, 20.0], "M12 4v16M4 12h16";
    MINUS ["minus", "remove", "subtract"], [4.0, 11.9, 20.0, 12.1], "M4 12h16";
    SEARCH ["search", "magnifier", "magnifying", "loupe", "find", "zoom"], [4.0, 4.0, 20.0, 20.0],
        "M10.5 4a6.5 6.5 0 1 0 0 13a6.5 6.5 0 1 0 0-13zm4.7 11.2L20 20";
    MENU ["menu", "hamburger", "burger"], [4.0, 6.0, 20.0, 18.0], "M4 6h16M4 12h16M4 18h16";
    MORE ["more", "dots", "ellipsis", "overflow", "kebab", "meatballs"], [5.0, 11.5, 19.0, 12.5],
        "M5 12h.01M12 12h.01M19 12h.01";
    HOME ["home", "house"], [4.0, 4.0, 20.0, 20.0], "M4 11l8-7 8 7v9h-5v-6H9v6H4z";
    USER ["user", "users", "person", "people", "profile", "account", "member", "team", "customer", "customers"],
        [4.0, 4.0, 20.0, 20.0], "M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM4 20c0-4 3.5-6 8-6s8 2 8 6";
    HEART ["heart", "like", "favorite", "favourite", "wishlist"], [4.0, 5.0, 20.0, 20.0],
        "M12 20S4 15 4 9.2A4.2 4.2 0 0 1 12 7a4.2 4.2 0 0 1 8 2.2C20 15 12 20 12 20z";
    STAR ["star", "stars", "rating"], [3.5, 3.5, 20.5, 19.7],
        "M12 3.5l2.6 5.4 5.9.8-4.3 4.1 1.1 5.9L12 16.9l-5.3 2.8 1.1-5.9-4.3-4.1 5.9-.8z";
    SETTINGS ["settings", "setting", "gear", "cog", "preferences"], [3.0, 3.0, 21.0, 21.0],
        "M12 8.5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7zM12 3v3m0 12v3M3 12h3m12 0h3M5.6 5.6l2.1 2.1m8.6 8.6l2.1 2.1m0-12.8l-2.1 2.1m-8.6 8.6l-2.1 2.1";
    PHONE ["phone", "call", "telephone"], [3.0, 3.0, 21.0, 21.0],
        "M6 3h3l2 5-2.5 1.5a11 11 0 0 0 6 6L16 13l5 2v3a3 3 0 0 1-3 3C10 21 3 14 3 6a3 3 0 0 1 3-3z";
    CAMERA ["camera"], [4.0, 6.0, 20.0, 19.0],
        "M4 8h4l1.5-2h5L16 8h4v11H4zM12 10.2a3 3 0 1 0 0 6 3 3 0 0 0 0-6z";
    IMAGE ["image", "picture", "photo", "gallery"], [4.0, 5.0, 20.0, 19.0], "M4 5h16v14H4zM4 16l5-5 4 4 3-3 4 4";
    CALENDAR ["calendar", "date", "event"], [4.0, 3.5, 20.0, 20.0], "M4 6h16v14H4zM4 10.5h16M8 3.5V7m8-3.5V7";
    CLOCK ["clock", "time", "history", "schedule", "recent", "timer", "watch"], [4.0, 4.0, 20.0, 20.0],
        "M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16zM12 8v4.5l3 2";
    LOCK ["lock", "password", "security", "privacy"], [6.0, 4.5, 18.0, 20.0], "M6 11h12v9H6zM8.5 11V8a3.5 3.5 0 0 1 7 0v3";
    EYE ["eye", "view", "visible", "visibility", "show"], [2.5, 5.5, 21.5, 18.5],
        "M2.5 12S6 5.5 12 5.5 21.5 12 21.5 12 18 18.5 12 18.5 2.5 12 2.5 12zM12 9.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5z";
    SHARE ["share"], [4.0, 4.0, 20.0, 20.0],
        "M6 9.8a2.2 2.2 0 1 0 0 4.4 2.2 2.2 0 0 0 0-4.4zM18 4a2.2 2.2 0 1 0 0 4.4A2.2 2.2 0 0 0 18 4zM18 15.6a2.2 2.2 0 1 0 0 4.4 2.2 2.2 0 0 0 0-4.4zM8 11l8-3.8M8 13l8 3.8";
    EDIT ["edit", "pencil", "pen", "write", "compose"], [4.0, 5.0, 19.0, 20.0], "M4 20l1-4L16 5l3 3L8 19zM14 7l3 3";
    TRASH ["trash", "delete", "bin"], [4.0, 4.0, 20.0, 20.0], "M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13";
    FILTER ["filter", "funnel"], [4.0, 6.0, 20.0, 19.0], "M4 6h16l-6 7v6l-4-2v-4z";
    PIN ["location", "pin", "map", "place", "address", "marker", "gps"], [5.0, 3.0, 19.0, 21.0],
        "M12 21s-7-6-7-11a7 7 0 0 1 14 0c0 5-7 11-7 11zM12 7.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5z";
    INFO ["info", "information"], [4.0, 4.0, 20.0, 20.0], "M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16zM12 11v5m0-8.5h.01";
    WARNING ["warning", "alert", "error", "exclamation", "danger"], [2.5, 4.0, 21.5, 20.0],
        "M12 4L2.5 20h19zM12 10v4.5M12 17.2h.01";
    HELP ["help", "question", "faq", "support"], [4.0, 4.0, 20.0, 20.0],
        "M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16zM9.6 9.8a2.4 2.4 0 1 1 3.5 2.1c-.8.4-1.1.9-1.1 1.6M12 16.5h.01";
    PLAY ["play"], [7.0, 4.5, 19.5, 19.5], "M7 4.5v15L19.5 12z";
    PAUSE ["pause"], [8.0, 5.0, 16.0, 19.0], "M8 5v14M16 5v14";
    BOOKMARK ["bookmark", "save"], [6.0, 4.0, 18.0, 20.5], "M6 4h12v16.5L12 16l-6 4.5z";
    LINK ["link", "url", "chain"], [5.0, 5.0, 19.0, 19.0],
        "M9 15l6-6m-4.5-2l1-1a4.2 4.2 0 0 1 6 6l-1 1m-3 4l-1 1a4.2 4.2 0 0 1-6-6l1-1";
    SEND ["send", "plane"], [3.0, 4.0, 21.0, 21.0], "M3 11l18-7-6 17-3.5-7.5zM21 4l-9.5 9.5";
    WIFI ["wifi"], [3.0, 6.0, 21.0, 19.5],
        "M3 9.5a13 13 0 0 1 18 0M6.5 13a8 8 0 0 1 11 0M10 16.5a3 3 0 0 1 4 0M12 19.5h.01";
    BATTERY ["battery"], [3.0, 8.0, 20.5, 16.0], "M3 8h15v8H3zM20.5 11v2";
    GLOBE ["globe", "language", "world", "web", "internet"], [4.0, 4.0, 20.0, 20.0],
        "M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16zM4 12h16M12 4c-5 5-5 11 0 16m0-16c5 5 5 11 0 16";
    COPY ["copy", "duplicate"], [4.0, 4.0, 20.0, 20.0], "M9 9h11v11H9zM5.5 15H4V4h11v1.5";
    REFRESH ["refresh", "reload", "sync", "rotate", "repeat"], [4.0, 3.0, 20.0, 20.0],
        "M20 12a8 8 0 1 1-2.5-5.8L20 8m0-5v5h-5";
    GRID ["grid", "dashboard", "category", "categories", "apps"], [4.0, 4.0, 20.0, 20.0],
        "M4 4h6v6H4zM14 4h6v6h-6zM4 14h6v6H4zM14 14h6v6h-6z";
    CHART ["chart", "analytics", "stats", "statistics", "graph", "report", "reports"], [5.0, 4.0, 19.0, 20.0],
        "M5 20v-9m7 9V4m7 16v-7";
    FILE ["file", "document", "documents", "doc", "note", "notes", "invoice", "order", "orders"],
        [6.0, 3.5, 18.0, 20.5], "M6 3.5h8l4 4v13H6zM14 3.5v4h4";
    FOLDER ["folder"], [3.5, 6.0, 20.5, 19.0], "M3.5 6h6l2 2h9v11h-17z";
    CARD ["credit", "card", "payment", "wallet"], [3.0, 6.0, 21.0, 18.0], "M3 6h18v12H3zM3 10.5h18";
}

/// Names longer than this describe something else.
const LONGEST_NAME: usize = 80;

/// The icon that a name calls, if any.
pub fn named(name: &str) -> Option<&'static Icon> {
    if name.len() > LONGEST_NAME {
        return None;
    }
    let words = words(name);
    let has = |wanted: &[&str]| words.iter().any(|word| wanted.contains(&word.as_str()));
    let turned = |right: &'static Icon, left, up, down| {
        if has(&["left", "back", "prev", "previous"]) {
            left
        } else if has(&["up", "top"]) {
            up
        } else if has(&["down", "drop", "bottom"]) {
            down
        } else {
            right
        }
    };
    if has(&["chevron", "caret", "angle", "chevrons"]) {
        return Some(turned(&CHEVRON_RIGHT, &CHEVRON_LEFT, &CHEVRON_UP, &CHEVRON_DOWN));
    }
    if has(&["arrow", "arrows"]) && !has(&["refresh", "sync"]) {
        if has(&["drop", "dropdown", "ios", "expand"]) {
            return Some(turned(&CHEVRON_RIGHT, &CHEVRON_LEFT, &CHEVRON_UP, &CHEVRON_DOWN));
        }
        return Some(turned(&ARROW_RIGHT, &ARROW_LEFT, &ARROW_UP, &ARROW_DOWN));
    }
    if name.trim().eq_ignore_ascii_case("x") {
        return Some(&CLOSE);
    }
    if has(&["log", "sign"]) && has(&["out"]) {
        return Some(&LOG_OUT);
    }
    ICONS.iter().find(|icon| has(icon.words))
}

/// The words of a layer's name in small letters: `icon/ArrowLeft_24px` has icon, arrow, left.
fn words(name: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut small = false;
    for c in name.chars() {
        let starts = c.is_uppercase() && small;
        if (!c.is_alphabetic() || starts) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if c.is_alphabetic() {
            word.extend(c.to_lowercase());
        }
        small = c.is_lowercase();
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_call_their_icons() {
        for (name, icon) in [
            ("chevron-right", Some(&CHEVRON_RIGHT)),
            ("Icon/ArrowLeft", Some(&ARROW_LEFT)),
            ("arrow_drop_down", Some(&CHEVRON_DOWN)),
            ("Property 1=Search", Some(&SEARCH)),
            ("ic_close_24px", Some(&CLOSE)),
            ("log-out-01", Some(&LOG_OUT)),
            ("Vector", None),
            ("Frame 12", None),
            ("checkout", None),
            ("", None),
        ] {
            assert_eq!(named(name), icon, "{name}");
        }
    }

    #[test]
    fn every_icon_is_sound_path_data_within_its_ink() {
        for icon in ICONS {
            let mut out = String::new();
            let mut writer = crate::path::PathWriter::new(&mut out, 2);
            assert_eq!(crate::path::rewrite(icon.data, &mut writer), Ok(()), "{}", icon.data);
            assert!(icon.ink[0] < icon.ink[2] && icon.ink[1] < icon.ink[3]);
        }
    }
}
