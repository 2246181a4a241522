//! Confirming a booking on a phone, in Japanese.

use super::parts::{Stay, band, phone, stay_card, top};
use crate::samples::library::Library;
use crate::samples::node::{Node, Pin, Place, column, ellipse, group, rect, row, rule, text};
use crate::samples::system::style::{
    BODY_S, CAPTION, EVERGREEN, INK, LABEL_M, LINE, PAPER, PERSIMMON, SLATE, TITLE_L, TITLE_S, high, low,
    picture,
};

const INN: Stay = Stay {
    scene: "River",
    name: "川辺の宿 ひのき",
    place: "兵庫県・城崎温泉",
    price: "¥24,800",
    unit: "1名様 1泊",
    score: "4.9",
    tag: None,
    saved: true,
};

/// The card of the landlady's words; her portrait is cut to a circle.
fn letter() -> Node {
    let face = group("女将", 48.0, 48.0)
        .child(ellipse("Mask", 48.0, 48.0).fill(PAPER).masking())
        .child(rect("Portrait", 48.0, 60.0).fill(picture("portrait-mika")).at(0.0, -6.0));
    let words = column("Words").fill_width().gap(4.0);
    let words = words.child(text("Name", LABEL_M, "女将 林 美香より").fill(INK).fill_width()).child(
        text("Words", BODY_S, "紅葉の季節です。川沿いのお部屋をご用意して、お待ちしております。")
            .fill(SLATE)
            .fill_width(),
    );
    let card =
        row("女将のことば").fill_width().pad(16.0, 16.0).gap(14.0).radius(20.0).fill(PAPER).elevation(&low());
    card.child(face).child(words).child(seal())
}

/// The house's seal, pressed by hand.
fn seal() -> Node {
    let letters = text("Letters", CAPTION, "ひの\nき印").fill(PERSIMMON).text_align("CENTER");
    let seal =
        row("印").sized(44.0, 44.0).radius(10.0).stroke(PERSIMMON, 2.0).align(Place::Center, Place::Center);
    seal.child(letters).opacity(0.75).rotate(-9.0).pin(Pin::End(18.0), Pin::Start(-12.0))
}

fn facts(library: &Library) -> Node {
    let line = |glyph: &str, title: &str, note: &str| {
        let line = library.make("Surface/List item").with("Lead", "Icon").with("Trail", "Chevron");
        line.swap("Icon", &format!("Icon/{glyph}"))
            .text("Title", title)
            .text("Note", note)
            .wide()
            .named(title)
    };
    let card = column("ご予約内容").fill_width().pad(4.0, 16.0).radius(20.0).fill(PAPER).elevation(&low());
    card.child(line("calendar", "11月12日(水)〜14日(金)", "2泊3日・チェックイン 15:00"))
        .child(rule("Line", LINE, 1.0))
        .child(line("users", "大人 2名様", "和室 10畳「もみじ」・布団 2組"))
        .child(rule("Line", LINE, 1.0))
        .child(line("train", "送迎を希望する", "城崎温泉駅 14:32 着 こうのとり9号"))
}

fn extras(library: &Library) -> [Node; 2] {
    let item = |name: &str, note: &str, price: &str, subject: &'static str, number: &str| {
        let item =
            library.make("Surface/Basket item").text("Name", name).text("Note", note).text("Price", price);
        let item = item.inside("Counter", |counter| counter.text("Number", number));
        item.tweak("Photo", "fills", |node| node.fill = picture(subject)).wide().named(name).node()
    };
    [
        item("朝食 和定食", "但馬の卵と焼き魚", "¥4,400", "breakfast", "2"),
        item("貸切檜風呂", "45分・21:00から", "¥3,300", "cedar-bath", "1"),
    ]
}

fn bill(library: &Library) -> Node {
    let sum = |weight: &str, key: &str, value: &str| {
        library
            .make("Surface/Sum")
            .with("Weight", weight)
            .text("Key", key)
            .text("Value", value)
            .wide()
            .named(key)
    };
    let card = column("お支払い金額")
        .fill_width()
        .pad(20.0, 16.0)
        .gap(12.0)
        .radius(20.0)
        .fill(PAPER)
        .elevation(&low());
    card.child(text("Title", TITLE_S, "お支払い金額").fill(INK).fill_width())
        .child(sum("Plain", "宿泊料 ¥24,800 × 2名 × 2泊", "¥99,200"))
        .child(sum("Plain", "朝食・貸切風呂", "¥7,700"))
        .child(sum("Plain", "入湯税", "¥600"))
        .child(sum("Saving", "早割(30日前まで)", "−¥9,920"))
        .child(rule("Line", LINE, 1.0))
        .child(sum("Total", "合計(税込)", "¥97,580"))
}

fn pay(library: &Library) -> Node {
    let words = column("Words").fill_width().gap(2.0);
    let words = words
        .child(
            row("Key")
                .gap(6.0)
                .middle()
                .child(text("Key", CAPTION, "合計(税込)").fill(SLATE))
                .child(text("Before", CAPTION, "¥107,500").fill(SLATE).struck()),
        )
        .child(text("Total", TITLE_L, "¥97,580").fill(INK).span("¥", TITLE_S, SLATE));
    let button = library.make("Action/Button").with("Size", "Large").text("Words", "予約を確定する");
    let line = row("Pay").fill_width().pad(12.0, 16.0).gap(16.0).middle().child(words).child(button);
    let foot = column("Foot").fill(PAPER).elevation(&high()).corners([24.0, 24.0, 0.0, 0.0]);
    foot.wide(390.0).child(line).child(library.make("Device/Home bar").wide().tall(26.0))
}

/// The screen.
pub fn screen(library: &Library) -> Node {
    let bar = library
        .make("Navigation/Top bar")
        .with("Kind", "Back")
        .text("Title", "ご予約内容の確認")
        .show("With icon", false);
    let journey = library.make("Navigation/Journey").with("At", "2");
    let journey =
        journey.text("Step 1", "プラン選択").text("Step 2", "内容の確認").text("Step 3", "完了").wide();
    let notice = library
        .make("Feedback/Notice")
        .with("Tone", "Success")
        .text("Title", "11月9日まで無料でキャンセルできます")
        .text("Words", "以降は宿泊料の50%を申し受けます。")
        .wide();
    let head = |title: &str, way: &str| {
        library.make("Type/Section head").with("Way", "All").text("Title", title).text("Way", way).wide()
    };
    let lead =
        text("Lead", BODY_S, "あと1室です。お部屋は10分間お取り置きしています。").fill(SLATE).fill_width();
    phone("予約の確認", 1460.0)
        .gap(20.0)
        .child(top(library, bar.wide().node()))
        .child(
            band("進み具合", 12.0)
                .child(journey)
                .child(lead.span("あと1室", LABEL_M, PERSIMMON).span("10分間", LABEL_M, EVERGREEN)),
        )
        .child(band("お宿", 12.0).child(stay_card(library, "Wide", &INN).fill_width()).child(facts(library)))
        .child(band("追加", 12.0).child(head("お食事とお風呂", "追加する")).children(extras(library)))
        .child(band("料金", 12.0).child(bill(library)).child(notice).child(letter()))
        .child(pay(library).pin(Pin::Both(0.0, 0.0), Pin::End(0.0)))
}
