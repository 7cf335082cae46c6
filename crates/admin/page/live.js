// What the server tells as it happens.

import { address, get } from "./api.js";

const AGAIN = 3000;

// Listens until it is stopped; `told` has a function for each kind of event, and `live` for whether anything is heard.
export function listen(told) {
  let source;
  let timer;
  let stopped = false;

  const open = () => {
    source = new EventSource(address("/events"));
    source.onopen = () => told.live(true);
    source.onerror = () => {
      told.live(false);
      if (source.readyState === EventSource.CLOSED) later();
    };
    for (const kind of ["status", "metrics", "changed"]) {
      source.addEventListener(kind, (event) => told[kind](JSON.parse(event.data)));
    }
    source.addEventListener("end", () => {
      source.close();
      told.live(false);
      // Asking shows whether it is the login that is over; if so, whoever asks is told.
      get("/session").then(later, () => {});
    });
  };
  const later = () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      if (!stopped) get("/session").then(open, (problem) => problem.status === 401 || later());
    }, AGAIN);
  };
  open();
  return () => {
    stopped = true;
    clearTimeout(timer);
    source.close();
  };
}
