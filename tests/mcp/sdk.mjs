// The official SDK's client against the server, in both eras: its own schemas
// judge each answer. Prints what fails; exits 1 then.
//
//     sdk.mjs COMMAND [ARGUMENT ...]
import {Client} from '@modelcontextprotocol/client';
import {StdioClientTransport} from '@modelcontextprotocol/client/stdio';
import {is_order, watch} from './wire.mjs';

const [command, ...args] = process.argv.slice(2);
let bad = 0;

function ok(good, name, why) {
  if (!good) bad++;
  console.log(`${good ? 'ok' : 'not ok'} - ${name}${good ? '' : `: ${why}`}`);
}

async function era(mode) {
  const name = mode.pin ?? mode;
  const c = new Client({name: 'sdk', version: '1'}, {
    capabilities: {sampling: {}, elicitation: {form: {}}, roots: {}},
    versionNegotiation: {mode},
  });
  let lint = 0, asked = 0;
  const wire = {};
  const say = (good, what, why) => ok(good, `${name}: ${what}`, why);
  c.onerror = e => {
    if (is_order(e)) return;
    lint++;
    say(false, 'no complaint', e.message);
  };
  c.setRequestHandler('sampling/createMessage', async () => {
    asked++;
    return {model: 'm', role: 'assistant',
            content: {type: 'text', text: 'Paris'}};
  });
  c.setRequestHandler('elicitation/create', async () => {
    asked++;
    return {action: 'accept', content: {name: 'A', ok: true}};
  });
  c.setRequestHandler('roots/list', async () => ({roots: []}));
  await c.connect(watch(new StdioClientTransport({command, args}), wire));
  say(c.getServerVersion()?.name === 'mcp-fixture', 'connects');
  say((await c.listTools()).tools.length > 30, 'tools');
  say((await c.listResources()).resources.length === 4, 'resources');
  say((await c.listPrompts()).prompts.length === 5, 'prompts');
  say((await c.listResourceTemplates()).resourceTemplates.length === 1,
      'templates');
  await c.readResource({uri: 'test://static-text'});
  await c.complete({ref: {type: 'ref/prompt', name: 'x'},
                    argument: {name: 'a', value: 'b'}});
  const text = r => r.content[0].text;
  say(text(await c.callTool({name: 'test_sampling',
                             arguments: {prompt: 'x'}})).includes('Paris'),
      'sampling');
  say(text(await c.callTool({
        name: 'test_input_required_result_multi_round',
        arguments: {rounds: 5}})).split('"A"').length === 6,
      'five rounds');
  say(asked === 6, 'each question once', asked);
  await c.callTool({name: 'test_tool_with_progress'}, {onprogress: () => {}});
  say(wire.steps === 3, 'progress', wire.steps);
  const stop = new AbortController();
  setTimeout(() => stop.abort('enough'), 100);
  const t = Date.now();
  await c.callTool({name: 'sleep', arguments: {ms: 20000}},
                   {signal: stop.signal})
    .then(() => say(false, 'cancel'), () => say(Date.now() - t < 5000,
                                                 'cancel'));
  say(text(await c.callTool({name: 'echo', arguments: {text: 'on'}})) === 'on',
      'and goes on');
  await c.close();
  say(lint === 0 && wire.wrong.length === 0, 'nothing to complain of',
      wire.wrong);
}

for (const mode of ['legacy', 'auto', {pin: '2026-07-28'}]) await era(mode);
process.exit(bad ? 1 : 0);
