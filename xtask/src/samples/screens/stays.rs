//! Looking for a house on the web site, in Japanese.

use super::parts::{Stay, stay_card};
use crate::samples::library::Library;
use crate::samples::node::{Node, Place, column, row, rule, text};
use crate::samples::system::style::{
    BODY_M, BODY_S, DISPLAY, EVERGREEN, INK, LABEL_M, LINE, PAPER, RICE, SLATE, TITLE_S, low,
};

const fn stay(
    scene: &'static str,
    name: &'static str,
    place: &'static str,
    price: &'static str,
    score: &'static str,
) -> Stay {
    Stay { scene, name, place, price, unit: "1泊1名様から", score, tag: None, saved: false }
}

const STAYS: [Stay; 6] = [
    Stay {
        tag: Some("残り1室"),
        saved: true,
        ..stay("River", "川辺の宿 ひのき", "川沿い・駅から徒歩6分", "¥24,800", "4.9")
    },
    stay("Bath", "湯の里 さくら庵", "外湯「一の湯」まで徒歩2分", "¥19,500", "4.7"),
    Stay {
        tag: Some("新着"), ..stay("Town", "町家 柳通り", "一棟貸し・最大6名様", "¥16,200", "4.8")
    },
    stay("Temple", "温泉寺 宿坊", "山あい・朝の坐禅つき", "¥14,000", "4.6"),
    Stay {
        saved: true, ..stay("Harbour", "津居山 港の家", "港から1分・松葉蟹プラン", "¥31,400", "4.9")
    },
    stay("Snow", "神鍋の山小屋", "スキー場まで車で10分", "¥12,800", "4.5"),
];

fn filters(library: &Library) -> Node {
    let tick = |on: bool, words: &str| {
        library.make("Control/Tick").with("On", if on { "Yes" } else { "No" }).text("Words", words).wide()
    };
    let block = |title: &str| {
        column(title).fill_width().gap(14.0).child(text("Title", TITLE_S, title).fill(INK).fill_width())
    };
    let prices = row("Prices").fill_width().align(Place::Between, Place::Center);
    let prices = prices
        .child(text("From", LABEL_M, "¥10,000").fill(INK))
        .child(text("To", LABEL_M, "¥35,000").fill(INK));
    let range = library.make("Control/Range").with("Ends", "Two").wide();
    let more = library
        .make("Action/Button")
        .with("Emphasis", "Ghost")
        .with("Size", "Small")
        .text("Words", "条件をクリア");
    column("しぼりこみ")
        .wide(272.0)
        .pad(24.0, 24.0)
        .gap(24.0)
        .radius(20.0)
        .fill(PAPER)
        .elevation(&low())
        .child(block("1泊の料金").child(range).child(prices))
        .child(rule("Line", LINE, 1.0))
        .child(
            block("お風呂")
                .child(tick(true, "露天風呂"))
                .child(tick(true, "貸切風呂"))
                .child(tick(false, "部屋つき温泉")),
        )
        .child(rule("Line", LINE, 1.0))
        .child(
            block("お食事")
                .child(tick(true, "夕食・朝食つき"))
                .child(tick(false, "朝食のみ"))
                .child(tick(false, "素泊まり")),
        )
        .child(rule("Line", LINE, 1.0))
        .child(row("Clear").fill_width().align(Place::Center, Place::Center).child(more))
}

fn results(library: &Library) -> Node {
    let mut list = column("Results").fill_width().gap(32.0);
    let chip = |chosen: bool, icon: Option<&str>, words: &str| {
        let chip = library.make("Data/Filter").with("Chosen", if chosen { "Yes" } else { "No" });
        let chip = if let Some(icon) = icon {
            chip.with("Icon", "Leading").swap("Icon", &format!("Icon/{icon}"))
        } else {
            chip
        };
        chip.text("Label", words)
    };
    let chips = row("Chips").fill_width().gap(8.0).middle();
    let chips = chips
        .child(chip(true, Some("bath"), "温泉"))
        .child(chip(false, Some("cup"), "朝食つき"))
        .child(chip(false, Some("train"), "送迎あり"))
        .child(chip(false, Some("wifi"), "Wi-Fi"))
        .child(chip(false, None, "ペット可"))
        .child(row("Spacer").fill_width())
        .child(library.make("Data/Filter").with("Icon", "Menu").text("Label", "おすすめ順"));
    list = list.child(chips);
    for (at, stays) in STAYS.chunks(3).enumerate() {
        let line = row(&format!("Line {}", at + 1)).fill_width().gap(24.0);
        list =
            list.child(line.children(stays.iter().map(|stay| stay_card(library, "Tall", stay).fill_width())));
    }
    let pager =
        row("Pages").fill_width().align(Place::Center, Place::Center).child(library.make("Navigation/Pager"));
    list.child(pager)
}

/// The screen.
pub fn screen(library: &Library) -> Node {
    let head = library
        .make("Navigation/Site head")
        .with("Search", "Yes")
        .inside("Search", |search| {
            search.with("State", "Filled").text("Words", "城崎温泉 11月12日〜14日 2名")
        })
        .texts(&[("Way 1", "宿をさがす"), ("Way 2", "旅のしおり"), ("Way 3", "読みもの")])
        .inside("Action", |action| action.text("Words", "ログイン"));
    let trail = library.make("Navigation/Trail").with("Depth", "3").texts(&[
        ("Step 1", "宿をさがす"),
        ("Step 2", "兵庫県"),
        ("Step 3", "城崎温泉"),
    ]);
    let title =
        text("Title", DISPLAY, "城崎温泉の宿 28軒").fill(INK).fill_width().span("28軒", DISPLAY, EVERGREEN);
    let lead = "柳の並ぶ川べりに、七つの外湯。浴衣と下駄でめぐる、小さな温泉町の宿をあつめました。";
    let words = column("Words").fill_width().gap(10.0);
    let words = words.child(trail).child(title).child(text("Lead", BODY_M, lead).fill(SLATE).fill_width());
    let foot = library
        .make("Navigation/Site foot")
        .text("About", "小さな宿と、ゆっくりした朝。")
        .texts(&[
            ("Title 1", "旅する"),
            ("Way 1.1", "宿をさがす"),
            ("Way 1.2", "ギフト券"),
            ("Way 1.3", "旅のしおり"),
        ])
        .texts(&[
            ("Title 2", "宿の方へ"),
            ("Way 2.1", "宿を掲載する"),
            ("Way 2.2", "管理画面"),
            ("Way 2.3", "よくある質問"),
        ])
        .texts(&[
            ("Title 3", "会社"),
            ("Way 3.1", "私たちについて"),
            ("Way 3.2", "採用情報"),
            ("Way 3.3", "お問い合わせ"),
        ])
        .text("Small print", "© 2025 Hinoki Inns 株式会社");
    let body = column("Body").fill_width().pads([36.0, 64.0, 64.0, 64.0]).gap(32.0).child(words);
    let note = text("Note", BODY_S, "料金は税込みです。入湯税150円は現地でお支払いください。")
        .fill(SLATE)
        .fill_width();
    let columns = row("Columns").fill_width().gap(32.0).child(filters(library)).child(results(library));
    column("宿をさがす")
        .wide(1440.0)
        .clip()
        .fill(RICE)
        .child(head.wide())
        .child(body.child(columns).child(note))
        .child(foot.wide())
}
