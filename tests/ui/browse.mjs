// Drives headless Chromium through the page of a server. It takes one JSON object: `chromium` (its program), `page` (the
// page's address), `token` (of the server, or none), `scenarios` (names of functions below), `shots` (a folder for
// pictures, or none). It prints a JSON object with what each scenario saw, or its `error`; and what browsers complained
// about, under `complaints`.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const job = JSON.parse(process.argv[2]);
const axe = readFileSync(fileURLToPath(import.meta.resolve("axe-core/axe.min.js")), "utf8");
const browser = await chromium.launch({ executablePath: job.chromium, args: ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"] });
const complaints = [];
const seen = {};

async function signIn(page) {
  await page.goto(`${job.page}/`);
  if (!(await page.locator("#token").count())) return;
  await page.fill("#token", job.token);
  await page.click("text=Sign in");
  await page.waitForSelector(".rows a");
}

// htmx reports a request that a later one of the same form replaces as an error; one that fails is a sendError.
const isReplaced = (message) => /htmx:(afterRequest|sendAbort)/.test(message.text());

const contexts = {};
async function open(path, options = {}) {
  const settings = { viewport: { width: 1280, height: 800 }, reducedMotion: "reduce", ...options };
  const context = contexts[JSON.stringify(settings)] ??= await browser.newContext(settings);
  const page = await context.newPage();
  page.setDefaultTimeout(60000);
  if (job.token) await signIn(page);
  page.on("console", (message) => { if (message.type() === "error" && !isReplaced(message)) complaints.push(`${message.text()} (${page.url()})`); });
  page.on("pageerror", (error) => complaints.push(String(error)));
  await page.goto(job.page + path);
  return page;
}

const text = (page, selector) => page.locator(selector).innerText();
const texts = (page, selector) => page.locator(selector).allInnerTexts();
const count = (page) => page.waitForFunction(() => document.querySelector(".count")?.textContent.includes(" of "));

async function call(name, args) {
  const meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "browse", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const headers = {
    "content-type": "application/json", accept: "application/json, text/event-stream",
    "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": name,
    ...(job.token ? { authorization: `Bearer ${job.token}` } : {}),
  };
  const params = { name, arguments: args, _meta: meta };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
  return (await fetch(`${job.page}/mcp`, { method: "POST", headers, body })).json();
}

async function violations(page) {
  await page.evaluate(axe);
  return page.evaluate(async () => {
    const { violations } = await axe.run(document, { resultTypes: ["violations"] });
    return violations.map((each) => `${each.id}: ${each.nodes.map((node) => node.target).slice(0, 3).join(" | ")}`);
  });
}

const scenarios = {
  async list() {
    const page = await open("/");
    await page.waitForSelector("#tokens table");
    await page.waitForFunction(() => document.querySelector("#tokens").textContent.includes("--compact"));
    return {
      title: await text(page, "h1"), rows: await texts(page, ".rows .name"), facts: await text(page, "dl.facts"),
      tokens: await text(page, "#tokens"), bars: await page.locator(".rows rect.bar").count(),
      hacked: await page.evaluate(() => window.hacked ?? null),
    };
  },

  async filter() {
    const page = await open("/");
    await page.fill("#query", "record a new song");
    await count(page);
    await page.waitForFunction(() => document.querySelector('.rows .name')?.textContent === 'createSong');
    const found = await texts(page, ".rows .name");
    await page.fill("#query", "");
    await page.selectOption("[name=risk]", "destroys");
    await page.waitForFunction(() => document.querySelectorAll(".rows .name").length === 2);
    const risky = await texts(page, ".rows .name");
    await page.selectOption("[name=method]", "DELETE");
    await page.waitForFunction(() => document.querySelectorAll(".rows .name").length === 1);
    return { found, risky, deleted: await texts(page, ".rows .name") };
  },

  async form() {
    const page = await open("/");
    await page.click("text=createSong");
    await page.fill('[name="/title#string"]', "Blue");
    await page.fill('[name="/artist/name#string"]', "Ada");
    await page.fill('[name="/artist/band/name#string"]', "The Analysts");
    await page.selectOption('[name="/live#json"]', "true");
    await page.fill('[name="/seconds#number"]', "61.5");
    for (const number of [0, 1]) {
      await page.click("fieldset:has(> legend:text('tracks')) > button.add");
      await page.locator(".item").nth(number).locator('[name$="/name#string"]').fill(`Track ${number}`);
    }
    await page.locator(".item").nth(0).locator("[data-remove]").click();
    await page.selectOption("[aria-label='Form of cover']", { label: "integer" });
    await page.fill('[name="/cover#number"]', "7");
    await page.fill('[name="/notes#json"]', '{"a": [1]}');
    await page.click("text=Dry run");
    await page.waitForSelector("#result pre");
    const dry = await texts(page, "#result pre");
    await page.check("[name=as][value=json]");
    await page.waitForSelector("#json");
    const json = await page.inputValue("#json");
    await page.fill("#json", '{"title": "Red", "artist": {"name": "Bo"}}');
    await page.click("#call-form button:text('Call')");
    await page.waitForSelector(".sides");
    return { dry, json: JSON.parse(json), api: await text(page, ".sides section >> nth=0"), model: await text(page, ".sides section >> nth=1"), url: page.url() };
  },

  async choices() {
    const page = await open("/ui/tools/listSongs");
    await page.check("text=rock");
    await page.check("text=jazz");
    await page.fill('[name="/q#string"]', "a b");
    await page.click("text=Dry run");
    await page.waitForSelector("#result pre");
    return { dry: await texts(page, "#result pre"), hacked: await page.evaluate(() => window.hacked ?? null) };
  },

  async file() {
    const page = await open("/ui/tools/putCover");
    await page.fill('[name="/id#number"]', "3");
    await page.setInputFiles("input[type=file]", { name: "a.png", mimeType: "image/png", buffer: Buffer.from("89504e470d0a1a0a", "hex") });
    await page.waitForFunction(() => document.querySelector('[name="/body#string"]').value.startsWith("data:"));
    await page.click("text=Dry run");
    await page.waitForSelector("#result pre");
    return { dry: await texts(page, "#result pre") };
  },

  async error() {
    const page = await open("/ui/tools/getSong");
    await page.fill('[name="/id#number"]', "many");
    await page.click("#call-form button:text('Call')");
    await page.waitForSelector(".failed");
    return { result: await text(page, "#result") };
  },

  async destructive() {
    const page = await open("/ui/tools/deleteSong");
    await page.fill('[name="/id#number"]', "5");
    await page.click("#call-form button:text('Call')");
    await page.waitForSelector("[role=alertdialog]");
    const asked = await text(page, "#result");
    await page.click("button:text-is('No')");
    const left = await page.locator("#result").innerText();
    await page.click("#call-form button:text('Call')");
    await page.click("text=Yes, send it");
    await page.waitForSelector(".sides");
    return { asked, left, done: await text(page, ".sides") };
  },

  async live() {
    const page = await open("/ui/calls");
    await page.waitForSelector("#live-state.set");
    await call("listSongs", { q: "blue", access_token: "a-secret-of-the-caller" });
    await page.waitForSelector("#calls tr");
    const row = await texts(page, "#calls tr >> nth=0 >> td");
    await page.click("#calls summary");
    await page.waitForSelector("#calls pre", { state: "visible" });
    return { row, args: await text(page, "#calls pre") };
  },

  async problems() {
    const page = await open("/ui/problems");
    return { text: await text(page, "ol.problems") };
  },

  async connect() {
    const page = await open("/ui/connect");
    const details = page.locator(".clients details");
    const clients = {};
    for (const each of await details.all()) {
      const title = `${await each.getAttribute("name")} ${await each.locator("summary b").textContent()}`;
      clients[title] = { text: await each.locator("pre").textContent(), link: (await each.locator("a.button").evaluateAll((links) => links.map((link) => link.href)))[0] ?? "" };
    }
    return { clients };
  },

  async keyboard() {
    const page = await open("/");
    await page.keyboard.press("Tab");
    const first = await page.evaluate(() => document.activeElement.className);
    await page.keyboard.press("/");
    const found = page.waitForResponse((response) => response.url().includes("query=getSong"));
    await page.keyboard.type("getSong");
    await found; // what is typed slowly is searched for more than once
    await count(page);
    await page.waitForFunction(() => document.querySelector(".rows .name")?.textContent === "getSong");
    for (let presses = 0; presses < 8; presses += 1) {
      await page.keyboard.press("Tab");
      if (await page.evaluate(() => document.activeElement.matches(".rows a"))) break;
    }
    await page.keyboard.press("Enter");
    await page.waitForSelector("#call-form");
    await page.waitForFunction(() => document.activeElement.id === "pane"); // it gets the focus when it has settled
    const pane = await page.evaluate(() => document.activeElement.id);
    for (let presses = 0; presses < 8; presses += 1) {
      await page.keyboard.press("Tab");
      if (await page.evaluate(() => document.activeElement.name === "/id#number")) break;
    }
    await page.waitForFunction(() => document.activeElement.name === "/id#number");
    await page.keyboard.type("9");
    await page.keyboard.press("Enter");
    await page.waitForSelector("#result pre");
    await page.goBack();
    await page.waitForSelector(".overview");
    return { first, pane, overview: await page.locator(".overview").count() };
  },

  async accessible() {
    const found = {};
    const paths = ["/", "/ui/tools/createSong", "/ui/tools/getSong", "/ui/connect", "/ui/problems", "/ui/calls"];
    for (const [name, options] of Object.entries({
      light: { colorScheme: "light" }, "dark and narrow": { colorScheme: "dark", viewport: { width: 390, height: 844 } },
    })) {
      const page = await open("/", options);
      for (const path of paths) {
        await page.goto(job.page + path);
        if (path.endsWith("getSong")) {
          await page.fill('[name="/id#number"]', "1");
          await page.click("#call-form button:text('Call')");
          await page.waitForSelector(".sides");
        }
        if (path.endsWith("createSong")) {
          await page.click("fieldset:has(> legend:text('tracks')) > button.add");
          await page.waitForSelector(".item");
        }
        const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
        found[`${name} ${path}`] = [...await violations(page), ...(wide > 0 ? [`${wide} pixels too wide`] : [])];
      }
    }
    return found;
  },

  async report() {
    const found = {};
    for (const [name, options] of Object.entries({
      light: { colorScheme: "light" }, "dark and narrow": { colorScheme: "dark", viewport: { width: 390, height: 844 } },
    })) {
      const page = await open("", options);
      await page.evaluate(() => document.querySelectorAll("details").forEach((each) => { each.open = true; }));
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
      const requests = await page.evaluate(() => performance.getEntriesByType("resource").length);
      found[name] = {
        violations: [...await violations(page), ...(wide > 0 ? [`${wide} pixels too wide`] : [])], requests,
        title: await text(page, "h1"), groups: await texts(page, "summary strong"), hacked: await page.evaluate(() => window.hacked ?? null),
      };
      if (job.shots) await page.screenshot({ path: `${job.shots}/report-${name.replaceAll(" ", "-")}.png`, fullPage: false });
    }
    return found;
  },

  async large() {
    const page = await open("/");
    await page.waitForSelector(".rows a");
    const { responseStart, domInteractive } = await page.evaluate(() => performance.getEntriesByType("navigation")[0].toJSON());
    const before = await page.locator(".rows a").count();
    await page.fill("#query", "create an issue");
    await page.waitForFunction(() => document.querySelector(".rows .name")?.textContent === "issues_create");
    await page.click(".rows a >> nth=0");
    await page.waitForSelector("#call-form");
    await page.fill("#query", "");
    await page.waitForFunction(() => document.querySelector(".count").textContent.trim().startsWith("1,"));
    while (await page.locator(".rows a").count() < 1223) {
      await page.evaluate(() => document.querySelector(".more")?.scrollIntoView());
      await page.waitForTimeout(20);
    }
    return { before, rows: await page.locator(".rows a").count(), responseStart, domInteractive };
  },

  async pictures() {
    const light = await open("/", { colorScheme: "light", deviceScaleFactor: 1.5 });
    await light.waitForFunction(() => document.querySelector("#tokens").textContent.includes("--compact"));
    await light.screenshot({ path: `${job.shots}/page.png` });
    const dark = await open("/ui/tools/listPets", { colorScheme: "dark", deviceScaleFactor: 1.5 });
    await dark.fill('[name="/limit#number"]', "2");
    await dark.click("#call-form button:text('Call')");
    await dark.waitForSelector(".sides");
    await dark.screenshot({ path: `${job.shots}/page-call.png` });
    const calls = await open("/ui/calls", { colorScheme: "light", deviceScaleFactor: 1.5, viewport: { width: 1280, height: 420 } });
    await calls.waitForSelector("#live-state.set");
    await call("listPets", { limit: 3 });
    await call("getPet", { petId: 1 });
    await call("getPet", { petId: 4711 });
    await calls.waitForFunction(() => document.querySelectorAll("#calls tr").length === 3);
    await calls.screenshot({ path: `${job.shots}/page-calls.png` });
    const narrow = await open("/ui/tools/createPet", { colorScheme: "light", deviceScaleFactor: 1.5, viewport: { width: 390, height: 844 } });
    await narrow.screenshot({ path: `${job.shots}/page-narrow.png` });
    return {};
  },
};

for (const name of job.scenarios) {
  const start = performance.now();
  try {
    seen[name] = await scenarios[name]();
  } catch (error) {
    seen[name] = { error: String(error.stack ?? error) };
  }
  console.error(`${name} ${((performance.now() - start) / 1000).toFixed(1)} s`);
}
await browser.close();
console.log(JSON.stringify({ ...seen, complaints }));
