//! What user interfaces are made of, and the words that designers call it by.
//!
//! General vocabulary only: nothing here knows any one kit or design system, so that swapping a kit is a change of
//! data (contract, "Kit and registry"). Words are evidence beside structure, never identity.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

/// What a component is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names are the field's own")]
pub enum Archetype {
    AppBar,
    TabBar,
    SideNav,
    Button,
    IconButton,
    Fab,
    Input,
    TextArea,
    Select,
    Checkbox,
    Radio,
    Switch,
    Slider,
    Search,
    Card,
    ListRow,
    Table,
    TableRow,
    Avatar,
    Image,
    Chart,
    Badge,
    Chip,
    Tabs,
    Breadcrumb,
    Pagination,
    Modal,
    Toast,
    Tooltip,
    Stepper,
    Progress,
    Heading,
    Paragraph,
    Caption,
    Link,
    Divider,
    Icon,
    Logo,
    StatusBar,
    Keyboard,
    Footer,
    Menu,
    Calendar,
    Quantity,
    Metric,
    KeyValue,
    Rating,
    Accordion,
    Upload,
}

use Archetype as A;

impl Archetype {
    /// Something that a person operates.
    pub const fn is_control(self) -> bool {
        matches!(
            self,
            A::Button
                | A::IconButton
                | A::Fab
                | A::Input
                | A::TextArea
                | A::Select
                | A::Checkbox
                | A::Radio
                | A::Switch
                | A::Slider
                | A::Search
                | A::Quantity
                | A::Upload
        )
    }

    /// Artwork rather than a component.
    pub const fn is_artwork(self) -> bool {
        matches!(self, A::Icon | A::Logo)
    }

    /// How well `other` may stand for this one, 0..=1. A general thing may stand for a particular one rather than
    /// the other way round: an input for a search field, but no search field for any input.
    pub fn affinity(self, other: Self) -> f64 {
        if self == other {
            return 1.0;
        }
        if self == A::TableRow && other == A::Table {
            return 0.3;
        }
        if self == A::Input && matches!(other, A::Search | A::Select | A::TextArea | A::Calendar) {
            return 0.35;
        }
        let either = |x, y| (self == x && other == y) || (self == y && other == x);
        let close = [
            (A::Input, A::TextArea),
            (A::Input, A::Select),
            (A::Input, A::Search),
            (A::Chip, A::Badge),
            (A::Fab, A::IconButton),
            (A::Table, A::TableRow),
            (A::Modal, A::Card),
            (A::ListRow, A::Menu),
            (A::Toast, A::Tooltip),
            (A::Checkbox, A::Radio),
            (A::Paragraph, A::Caption),
            (A::Heading, A::Paragraph),
            (A::Metric, A::Card),
        ];
        let loose =
            [(A::Card, A::ListRow), (A::ListRow, A::TableRow), (A::Button, A::Chip), (A::Button, A::Fab)];
        if close.iter().any(|(x, y)| either(*x, *y)) {
            0.7
        } else if loose.iter().any(|(x, y)| either(*x, *y)) {
            0.45
        } else {
            0.0
        }
    }
}

/// Phrases, the longer first where one holds the other. Latin ones match whole words; the others match anywhere.
const PHRASES: &[(&str, Archetype)] = &[
    ("bottom navigation", A::TabBar),
    ("bottom nav", A::TabBar),
    ("bottom bar", A::TabBar),
    ("tab bar", A::TabBar),
    ("tabbar", A::TabBar),
    ("status bar", A::StatusBar),
    ("statusbar", A::StatusBar),
    ("app bar", A::AppBar),
    ("appbar", A::AppBar),
    ("top bar", A::AppBar),
    ("topbar", A::AppBar),
    ("top nav", A::AppBar),
    ("nav bar", A::AppBar),
    ("navbar", A::AppBar),
    ("navigation bar", A::AppBar),
    ("toolbar", A::AppBar),
    ("header", A::AppBar),
    ("gnb", A::AppBar),
    ("side nav", A::SideNav),
    ("side navigation", A::SideNav),
    ("sidenav", A::SideNav),
    ("sidebar", A::SideNav),
    ("side bar", A::SideNav),
    ("rail", A::SideNav),
    ("navigation drawer", A::SideNav),
    ("drawer", A::SideNav),
    ("floating action button", A::Fab),
    ("fab", A::Fab),
    ("icon button", A::IconButton),
    ("iconbutton", A::IconButton),
    ("button icon", A::IconButton),
    ("button group", A::Tabs),
    ("segmented control", A::Tabs),
    ("segmented", A::Tabs),
    ("button", A::Button),
    ("btn", A::Button),
    ("cta", A::Button),
    ("text area", A::TextArea),
    ("textarea", A::TextArea),
    ("multiline", A::TextArea),
    ("search", A::Search),
    ("combobox", A::Select),
    ("dropdown", A::Select),
    ("drop down", A::Select),
    ("select", A::Select),
    ("picker", A::Select),
    ("text field", A::Input),
    ("textfield", A::Input),
    ("text input", A::Input),
    ("text box", A::Input),
    ("form field", A::Input),
    ("input", A::Input),
    ("field", A::Input),
    ("checkbox", A::Checkbox),
    ("check box", A::Checkbox),
    ("radio", A::Radio),
    ("radio button", A::Radio),
    ("toggle button", A::Switch),
    ("section header", A::Heading),
    ("section head", A::Heading),
    ("table cell", A::TableRow),
    ("card header", A::Heading),
    ("portrait", A::Avatar),
    ("switch", A::Switch),
    ("toggle", A::Switch),
    ("slider", A::Slider),
    ("progress", A::Progress),
    ("loader", A::Progress),
    ("spinner", A::Progress),
    ("table row", A::TableRow),
    ("table header", A::TableRow),
    ("data grid", A::Table),
    ("table", A::Table),
    ("list item", A::ListRow),
    ("listitem", A::ListRow),
    ("list row", A::ListRow),
    ("menu item", A::ListRow),
    ("list cell", A::ListRow),
    ("cell", A::ListRow),
    ("row", A::ListRow),
    ("menu", A::Menu),
    ("card", A::Card),
    ("tile", A::Card),
    ("panel", A::Card),
    ("avatar", A::Avatar),
    ("profile picture", A::Avatar),
    ("userpic", A::Avatar),
    ("image", A::Image),
    ("picture", A::Image),
    ("photo", A::Image),
    ("thumbnail", A::Image),
    ("media", A::Image),
    ("sparkline", A::Chart),
    ("chart", A::Chart),
    ("graph", A::Chart),
    ("badge", A::Badge),
    ("tag", A::Badge),
    ("label", A::Badge),
    ("pill", A::Chip),
    ("chip", A::Chip),
    ("filter", A::Chip),
    ("tabs", A::Tabs),
    ("tab", A::Tabs),
    ("breadcrumbs", A::Breadcrumb),
    ("breadcrumb", A::Breadcrumb),
    ("pagination", A::Pagination),
    ("pager", A::Pagination),
    ("modal", A::Modal),
    ("dialog", A::Modal),
    ("popup", A::Modal),
    ("alert", A::Toast),
    ("bottom sheet", A::Modal),
    ("toast", A::Toast),
    ("snackbar", A::Toast),
    ("banner", A::Toast),
    ("notification", A::Toast),
    ("tooltip", A::Tooltip),
    ("stepper", A::Stepper),
    ("steps", A::Stepper),
    ("page title", A::Heading),
    ("heading", A::Heading),
    ("headline", A::Heading),
    ("title", A::Heading),
    ("paragraph", A::Paragraph),
    ("body text", A::Paragraph),
    ("text block", A::Paragraph),
    ("caption", A::Caption),
    ("helper text", A::Caption),
    ("hyperlink", A::Link),
    ("link", A::Link),
    ("divider", A::Divider),
    ("separator", A::Divider),
    ("logo", A::Logo),
    ("logotype", A::Logo),
    ("brand", A::Logo),
    ("icon", A::Icon),
    ("ico", A::Icon),
    ("glyph", A::Icon),
    ("keyboard", A::Keyboard),
    ("footer", A::Footer),
    ("quantity", A::Quantity),
    ("counter", A::Quantity),
    ("number stepper", A::Quantity),
    ("metric", A::Metric),
    ("stat", A::Metric),
    ("statistic", A::Metric),
    ("kpi", A::Metric),
    ("figure", A::Metric),
    ("key value", A::KeyValue),
    ("summary row", A::KeyValue),
    ("sum", A::KeyValue),
    ("subtotal", A::KeyValue),
    ("rating", A::Rating),
    ("stars", A::Rating),
    ("accordion", A::Accordion),
    ("collapse", A::Accordion),
    ("faq", A::Accordion),
    ("upload", A::Upload),
    ("dropzone", A::Upload),
    ("tick", A::Checkbox),
    ("choice", A::Radio),
    ("notice", A::Toast),
    ("meter", A::Progress),
    ("progress steps", A::Stepper),
    ("calendar", A::Calendar),
    ("date picker", A::Calendar),
    // Japanese, Korean, Chinese.
    ("タブバー", A::TabBar),
    ("ボトムナビ", A::TabBar),
    ("サイドナビ", A::SideNav),
    ("サイドバー", A::SideNav),
    ("ヘッダー", A::AppBar),
    ("フッター", A::Footer),
    ("アイコンボタン", A::IconButton),
    ("ボタン", A::Button),
    ("テキストエリア", A::TextArea),
    ("入力", A::Input),
    ("検索", A::Search),
    ("セレクト", A::Select),
    ("プルダウン", A::Select),
    ("チェックボックス", A::Checkbox),
    ("ラジオ", A::Radio),
    ("スイッチ", A::Switch),
    ("トグル", A::Switch),
    ("カード", A::Card),
    ("リスト", A::ListRow),
    ("テーブル", A::Table),
    ("アバター", A::Avatar),
    ("画像", A::Image),
    ("グラフ", A::Chart),
    ("バッジ", A::Badge),
    ("タグ", A::Badge),
    ("チップ", A::Chip),
    ("タブ", A::Tabs),
    ("パンくず", A::Breadcrumb),
    ("ページネーション", A::Pagination),
    ("モーダル", A::Modal),
    ("ダイアログ", A::Modal),
    ("トースト", A::Toast),
    ("見出し", A::Heading),
    ("アイコン", A::Icon),
    ("ロゴ", A::Logo),
    ("버튼", A::Button),
    ("입력", A::Input),
    ("검색", A::Search),
    ("카드", A::Card),
    ("목록", A::ListRow),
    ("아이콘", A::Icon),
    ("헤더", A::AppBar),
    ("按钮", A::Button),
    ("输入", A::Input),
    ("搜索", A::Search),
    ("卡片", A::Card),
    ("列表", A::ListRow),
    ("图标", A::Icon),
    ("导航", A::AppBar),
    // Russian, Spanish, Portuguese.
    ("кнопка", A::Button),
    ("поиск", A::Search),
    ("карточка", A::Card),
    ("иконка", A::Icon),
    ("поле", A::Input),
    ("boton", A::Button),
    ("botón", A::Button),
    ("botao", A::Button),
    ("botão", A::Button),
    ("tarjeta", A::Card),
    ("campo", A::Input),
    ("buscar", A::Search),
    ("icono", A::Icon),
    ("ícone", A::Icon),
];

/// Words of a layer's or component's name, in lower case: split at anything but letters and digits, and where a
/// small letter meets a capital.
pub fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    let mut before = ' ';
    for character in name.chars().take(200) {
        let splits = !character.is_alphanumeric() || (before.is_lowercase() && character.is_uppercase());
        if splits && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if character.is_alphanumeric() {
            word.extend(character.to_lowercase());
        }
        before = character;
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// Phrases of words, for looking up.
static LATIN: LazyLock<HashMap<&str, Archetype>> =
    LazyLock::new(|| PHRASES.iter().filter(|(phrase, _)| phrase.is_ascii()).copied().collect());

/// Words in the longest phrase.
const LONGEST: usize = 3;

/// The archetype that a name speaks of; the longest phrase decides, and of equally long ones the last in the name,
/// since names run from the general to the particular. A name that begins with "icon" is an icon, whatever it shows.
pub fn archetype_of(name: &str) -> Option<Archetype> {
    let words = words(name);
    let mut best: Option<(usize, usize, Archetype)> = None;
    let mut offer = |length: usize, at: usize, archetype: Archetype| {
        if best.is_none_or(|(longest, last, _)| (length, at) > (longest, last)) {
            best = Some((length, at, archetype));
        }
    };
    let mut phrase = String::new();
    for start in 0..words.len() {
        phrase.clear();
        for (count, word) in words[start..].iter().take(LONGEST).enumerate() {
            if count > 0 {
                phrase.push(' ');
            }
            phrase.push_str(word);
            // Plurals are forgiven.
            let found = LATIN.get(phrase.as_str()).or_else(|| LATIN.get(phrase.strip_suffix('s')?));
            if let Some(archetype) = found {
                offer(phrase.len(), start, *archetype);
            }
        }
    }
    if !name.is_ascii() {
        let joined = words.join(" ");
        for (phrase, archetype) in PHRASES.iter().filter(|(phrase, _)| !phrase.is_ascii()) {
            if let Some(at) = joined.rfind(phrase) {
                offer(phrase.chars().count() * 2, at, *archetype);
            }
        }
    }
    let found = best.map(|(_, _, archetype)| archetype);
    let names_icon = matches!(words.first().map(String::as_str), Some("icon" | "icons" | "ico" | "ic"));
    match found {
        Some(A::IconButton) | None => found,
        Some(_) if names_icon => Some(A::Icon),
        _ => found,
    }
}

/// Share of words that both names have: 0..=1 (Jaccard).
pub fn name_similarity(a: &[String], b: &[String]) -> f64 {
    if a.is_empty() || b.is_empty() {
        return 0.0;
    }
    let shared = a.iter().filter(|word| b.contains(word)).count();
    shared as f64 / (a.len() + b.len() - shared) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_speak_of_archetypes() {
        for (name, expected) in [
            ("Action/Button", Some(A::Button)),
            ("icon-button / Large", Some(A::IconButton)),
            ("Navigation/Bottom bar", Some(A::TabBar)),
            ("TextField", Some(A::Input)),
            ("検索ボックス", Some(A::Search)),
            ("プライマリーボタン", Some(A::Button)),
            ("List items", Some(A::ListRow)),
            ("Frame 123", None),
            ("Ниже кнопка", Some(A::Button)),
            ("buttonhole", None),
            ("Icon/image", Some(A::Icon)),
            ("icon button", Some(A::IconButton)),
        ] {
            assert_eq!(archetype_of(name), expected, "{name}");
        }
    }
}
