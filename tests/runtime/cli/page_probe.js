/* page_probe.js — added to a page of `spvfuse explain --html` by page.sh: looks at the document and
 * uses the page as people do.  Each line of its result is "ok WHAT" or "wrong WHAT". */
"use strict";
const results = [];
function expect(what, holds) { results.push((holds ? "ok " : "wrong ") + what); }
function press(element, key) {
  element.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true, cancelable: true}));
}
const all = (selector, of) => [...(of || document).querySelectorAll(selector)];

try {
  expect("scripts", document.scripts.length === 3);
  expect("no markup from the data", !document.querySelector("#evil, img, iframe, object"));
  expect("no handler has run", !document.title.includes("taken"));
  expect("a card for each group", all(".card").length === data.groups.length);
  expect("a box for each launch of a group",
         all(".card").every((c, n) => all(".box", c).length === data.groups[n].members.length));
  expect("the page is not wider than its window",
         document.documentElement.scrollWidth <= window.innerWidth);
  const rightOf = element => element.getBoundingClientRect().right;
  expect("long names stay in their boxes",
         all(".part, h2, h3, td .chip, .decisions li").every(e =>
           rightOf(e) <= rightOf(e.closest("table, .card, .strip")) + 1 && e.scrollWidth <= e.clientWidth + 1));
  expect("names are text", !data.groups.some(e => e.name.includes("<")) ||
         all("h2").some(h => h.textContent.includes("<")));
  expect("refusals quote both lines", all(".refusal").every(r => all(".quote .hit", r).length % 2 === 0));

  const panes = document.querySelector(".panes"), buttons = all(".tabs button");
  const texts = all(".text", panes), rows = all(".row[data-line]", panes);
  expect("lines have colours", rows.length > 0 && rows.every(r => r.style.getPropertyValue("--h") !== ""));
  const same = rows.filter(r => r.dataset.line === rows[0].dataset.line);
  expect("the same line has one colour",
         new Set(same.map(r => r.style.getPropertyValue("--h"))).size === 1);

  buttons[0].focus();
  press(buttons[0], "ArrowRight");
  expect("arrows go from tab to tab", document.activeElement === buttons[1]);
  press(buttons[1], "ArrowLeft");
  expect("and back", document.activeElement === buttons[0]);
  const pressed = buttons[1].getAttribute("aria-pressed");
  if (pressed === "false") buttons[1].click();
  expect("a tab shows its listing", buttons[1].getAttribute("aria-pressed") === "true" &&
         texts[1].offsetParent !== null);

  const text = texts[1];
  text.focus();
  expect("a listing takes the focus", document.activeElement === text);
  press(text, "ArrowDown");
  let row = text.querySelector(".row.at");
  expect("arrows go from line to line", row !== null);
  for (let n = 0; n < 200 && row && !row.dataset.line; n++) {
    press(text, "ArrowDown");
    row = text.querySelector(".row.at");
  }
  press(text, "Enter");
  const lit = all(".row.on", panes);
  expect("enter shows the line everywhere", lit.length > 1 && row &&
         lit.every(r => r.dataset.line === row.dataset.line));
  expect("what takes keys has a name",
         all("[tabindex], button, a").every(e => e.getAttribute("aria-label") || e.textContent.trim()));
} catch (error) {
  results.push("wrong " + error);
}
const out = document.createElement("pre");
out.id = "probe";
out.textContent = "\n" + results.join("\n") + "\n";
document.body.append(out);
