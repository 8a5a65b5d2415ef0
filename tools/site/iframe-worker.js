// A browser starts no worker from a file. Where the site is read as files, what would be one runs in a frame that
// nobody sees; the search then works without a server. Elsewhere nothing is changed.
"use strict";
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      this.inside = frame.contentWindow;
      this.inside.document.open();  // or a browser that still loads the empty page forgets what follows
      this.inside.document.write("<!doctype html><title>search</title>");
      this.inside.document.close();
      this.waiting = [];
      // What the script itself posts goes to the page, what the page posts to the script.
      this.inside.postMessage = (data) => this.tell(this, data);
      this.inside.importScripts = (...urls) =>
        Promise.all(urls.map((one) => this.load(new URL(one, url))));
      this.ready = this.load(url).then(() => {
        for (const data of this.waiting.splice(0)) this.tell(this.inside, data);
        this.isReady = true;
      });
    }
    load(url) {
      return new Promise((resolve, reject) => {
        const script = this.inside.document.createElement("script");
        script.onload = resolve;
        script.onerror = reject;
        script.src = url;
        this.inside.document.head.append(script);
      });
    }
    tell(target, data) {
      setTimeout(() => {
        const event = new MessageEvent("message", { data });
        if (typeof target.onmessage === "function") target.onmessage(event);
        target.dispatchEvent(event);
      });
    }
    postMessage(data) {
      if (this.isReady) this.tell(this.inside, data);
      else this.waiting.push(data);
    }
    terminate() {
      this.inside.frameElement.remove();
    }
  };
}
