/* SPDX-License-Identifier: MIT
 * iframe-worker.js: the search from disk. Browsers start no worker from a file:// page; there, and
 * only there, a Worker is a hidden frame of the same page that runs the same script. */
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.onmessage = this.onerror = null;
      this.waiting = [];
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.appendChild(frame);
      this.inside = frame.contentWindow;
      this.inside.postMessage = (data) => this.tell("message", data);
      this.inside.importScripts = (...urls) => Promise.all(urls.map((each) => this.load(each)));
      this.load(url).then(() => {
        this.ready = true;
        this.waiting.splice(0).forEach((data) => this.postMessage(data));
      });
    }

    /* Runs a script in the frame. */
    load(url) {
      return new Promise((done, failed) => {
        const script = this.inside.document.createElement("script");
        script.src = new URL(url, location.href).href;
        script.onload = done;
        script.onerror = failed;
        this.inside.document.body.appendChild(script);
      });
    }

    tell(type, data) {
      const event = new MessageEvent(type, { data });
      this.dispatchEvent(event);
      if (this["on" + type]) this["on" + type](event);
    }

    postMessage(data) {
      if (!this.ready) this.waiting.push(data);
      else this.inside.dispatchEvent(new this.inside.MessageEvent("message", { data }));
    }

    terminate() {
      this.inside.frameElement.remove();
    }
  };
}
