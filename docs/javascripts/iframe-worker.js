// The search runs in a Web Worker. Browsers refuse workers to pages that are read from disk: there
// this stands in for them, and runs the worker's script in a hidden frame.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      const inside = frame.contentWindow;
      // Opened and closed, so that no browser replaces the empty document later on.
      inside.document.open();
      inside.document.write("<!doctype html><title>search</title><body></body>");
      inside.document.close();
      inside.postMessage = (data) =>
        this.dispatchEvent(new MessageEvent("message", { data }));
      const script = inside.document.createElement("script");
      script.src = url;
      this.loaded = new Promise((resolve, reject) => {
        script.onload = () => resolve(inside);
        script.onerror = () => reject(new Error(`can't load ${url}`));
      });
      inside.document.body.append(script);
    }

    postMessage(data) {
      this.loaded.then((inside) =>
        inside.dispatchEvent(new inside.MessageEvent("message", { data }))
      );
    }
  };
}
