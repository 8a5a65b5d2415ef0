// The own search of the documentation's site, asked without a browser: node site_search.js SITE WORD...
const fs = require("fs"), path = require("path"), vm = require("vm");
const [site, ...words] = process.argv.slice(2);
const folder = path.join(site, "assets/javascripts/workers");
const file = path.join(folder, fs.readdirSync(folder).find((name) => /^search\..*\.js$/.test(name)));
const listeners = [], waiting = [];
const self = {
  location: { href: "file://" + file },
  addEventListener: (kind, listener) => listeners.push(listener),
  postMessage: (message) => waiting.shift()(message),
  console,
};
self.self = self; self.window = self; self.globalThis = self;
vm.runInNewContext(fs.readFileSync(file, "utf-8"), self);
const ask = (data) => new Promise((resolve) => { waiting.push(resolve); for (const one of listeners) one({ data }); });
(async () => {
  const index = JSON.parse(fs.readFileSync(path.join(site, "search/search_index.json"), "utf-8"));
  await ask({ type: 0, data: { ...index, options: { suggest: false } } });
  const found = {};
  for (const word of words) {
    const answer = await ask({ type: 2, data: word });
    found[word] = answer.data.items.flat().map((one) => one.location);
  }
  console.log(JSON.stringify(found));
})();
