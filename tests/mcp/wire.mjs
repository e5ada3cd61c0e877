// Progress as it passes between a client of the SDK and its server.
//
// The SDK takes a response at once, a notification one microtask later: of
// progress and a response that are read together it reports "a progress
// notification for an unknown token", although the server wrote the progress
// first (modelcontextprotocol/typescript-sdk#2580). A client that is not
// scheduled for some time reads them so. Their order on the wire decides here.

// The same transport; `wire.steps` counts progress, `wire.wrong` has the tokens
// that no request had, or one that was answered before.
export function watch(transport, wire) {
  const open = new Map(), send = transport.send;
  let take;
  Object.assign(wire, {steps: 0, wrong: []});
  transport.send = function (message, ...rest) {
    const token = message.params?._meta?.progressToken;
    if (token !== undefined) open.set(message.id, token);
    return send.call(this, message, ...rest);
  };
  Object.defineProperty(transport, 'onmessage', {
    set(f) {
      take = f && ((message, extra) => {
        const token = message.params?.progressToken;
        if (message.method === undefined) open.delete(message.id);
        if (message.method === 'notifications/progress') {
          wire.steps++;
          if (![...open.values()].includes(token)) wire.wrong.push(token);
        }
        f(message, extra);
      });
    },
    get() { return take; },
  });
  return transport;
}

// Whether the SDK complains of what it read together.
export function is_order(e) {
  return e.message.includes('progress notification for an unknown token');
}
