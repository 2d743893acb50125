// What htmx has no attribute for: files as text, removing items, copying, the state of the live list, lost sign-ins.
"use strict";

document.addEventListener("change", (event) => {
  const input = event.target;
  if (!input.matches("input[type=file][data-into]") || !input.files.length) return;
  const reader = new FileReader();
  reader.onload = () => { document.getElementById(input.dataset.into).value = reader.result; };
  reader.readAsDataURL(input.files[0]);
});

document.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (!button) return;
  if ("remove" in button.dataset) button.closest("[data-item]").remove();
  if ("clear" in button.dataset) document.getElementById(button.dataset.clear).replaceChildren();
  if ("copy" in button.dataset) {
    navigator.clipboard?.writeText(button.closest("figure").querySelector("pre").textContent);
    button.textContent = "Copied";
  }
});

document.addEventListener("keydown", (event) => {
  const search = document.getElementById("query");
  if (event.key !== "/" || !search || event.target.matches("input, textarea, select")) return;
  event.preventDefault();
  search.focus();
});

document.addEventListener("htmx:responseError", (event) => {
  if (event.detail.xhr.status === 401) location.reload();
});

document.addEventListener("htmx:afterSwap", (event) => {
  const target = event.detail.target;
  if (target?.id === "pane") {
    document.querySelector(".split").classList.add("has-tool");
    for (const link of document.querySelectorAll(".rows a")) {
      if (link.pathname === location.pathname) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
    document.title = `${target.querySelector("h1")?.textContent ?? ""} – openapi-mcp`;
    target.focus({ preventScroll: true });
  }
});

const state = (text, name) => {
  const element = document.getElementById("live-state");
  if (element) { element.textContent = text; element.className = `state ${name}`; }
};
document.addEventListener("htmx:sseOpen", () => state("listening", "set"));
document.addEventListener("htmx:sseError", () => state("connecting", "unset"));
document.addEventListener("htmx:sseMessage", () => {
  const rows = document.getElementById("calls");
  document.getElementById("no-calls").hidden = true;
  while (rows.children.length > Number(rows.dataset.most)) rows.lastElementChild.remove();
});
