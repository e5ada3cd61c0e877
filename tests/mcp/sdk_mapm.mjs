// The official SDK's clients, of before and after the change of eras, against
// `mapm mcp` in a workspace of tests/mcp/workspace: their schemas judge each
// answer. Prints what fails; exits 1 then.
//
//     sdk_mapm.mjs COMMAND [ARGUMENT ...]
import * as before from '@modelcontextprotocol/sdk/client/index.js';
import {StdioClientTransport as OldTransport} from
  '@modelcontextprotocol/sdk/client/stdio.js';
import * as types from '@modelcontextprotocol/sdk/types.js';
import * as after from '@modelcontextprotocol/client';
import {StdioClientTransport} from '@modelcontextprotocol/client/stdio';
import {is_order, watch} from './wire.mjs';

const [command, ...args] = process.argv.slice(2);
const TOOLS = 'run_metaskill skill_search skill_load skill_resource';
let bad = 0;

function ok(good, name, why = '') {
  if (!good) bad++;
  console.log(`${good ? 'ok' : 'not ok'} - ${name}${good ? '' : `: ${why}`}`
              .slice(0, 300));
}

async function is_error(promise) {
  return promise.then(r => r.isError === true, () => true);
}

// A client, and how that generation of it calls a tool.
function client(mode) {
  const info = {name: 'sdk', version: '1'};
  const capabilities = {sampling: {}};
  const transport = {command, args, env: process.env};
  const wire = {};
  if (mode === 'before') {
    const c = new before.Client(info, {capabilities});
    return {c, wire,
            transport: watch(new OldTransport(transport), wire),
            sampling: types.CreateMessageRequestSchema,
            tool: (call, options) => c.callTool(call, undefined, options)};
  }
  const c = new after.Client(info, {capabilities,
                                    versionNegotiation: {mode}});
  return {c, wire,
          transport: watch(new StdioClientTransport(transport), wire),
          sampling: 'sampling/createMessage',
          tool: (call, options) => c.callTool(call, options)};
}

async function run(mode) {
  const {c, wire, transport, sampling, tool} = client(mode);
  const say = (good, what, why) => ok(good, `${mode.pin ?? mode}: ${what}`, why);
  const call = (name, given, options) => tool({name, arguments: given}, options);
  const meta = (name, input, options) =>
    call('run_metaskill', {name, input}, options);
  const text = r => r.content[0].text;
  let lint = 0, asked = 0;
  c.onerror = e => {
    if (is_order(e)) return;
    lint++;
    say(false, 'no complaint', e.message);
  };
  c.setRequestHandler(sampling, async () => ({
    model: 'm', role: 'assistant', stopReason: 'endTurn',
    content: {type: 'text', text: `answer ${++asked}`}}));
  await c.connect(transport);
  say(c.getServerVersion()?.name === 'mapm', 'connects', c.getServerVersion());
  say(c.getInstructions()?.includes('- pdf: '), 'instructions');
  const {tools} = await c.listTools();
  say(tools.map(t => t.name).join(' ') === TOOLS, 'tools', tools.length);
  const {resources} = await c.listResources();
  say(resources.some(r => r.uri.endsWith('/installed/SKILL.md')), 'resources',
      JSON.stringify(resources));
  for (const r of resources) {
    const {contents} = await c.readResource({uri: r.uri});
    if (contents.length !== 1) say(false, `reads ${r.uri}`);
  }
  await c.listResourceTemplates();
  say(await is_error(c.readResource({uri: 'skill://workspace/no/SKILL.md'})),
      'no such resource');
  const {prompts} = await c.listPrompts();
  say(prompts.some(p => p.name === 'echo'), 'prompts', JSON.stringify(prompts));
  await c.getPrompt({name: 'echo', arguments: {word: 'x'}});
  await c.complete({ref: {type: 'ref/prompt', name: 'echo'},
                    argument: {name: 'word', value: ''}});
  const found = await call('skill_search', {query: 'pdf'});
  say(found.structuredContent?.result_names?.[0] === 'pdf', 'skill_search',
      JSON.stringify(found));
  say(text(await call('skill_load', {name: 'pdf'})).includes('forms.md'),
      'skill_load');
  const files = await call('skill_resource', {operation: 'list', skill: 'pdf'});
  say(files.structuredContent?.files?.length === 3, 'skill_resource',
      text(files));
  say(await is_error(call('skill_load', {name: 'none'})), 'no such skill');
  const echo = await meta('echo', {word: 'hello'});
  say(echo.structuredContent?.answer === 'hello', 'run_metaskill', text(echo));
  const answered = await meta('asks', {n: 3}, {onprogress: () => {}});
  say(answered.structuredContent?.answer === 'answer 1 answer 2 answer 3',
      'sampling', text(answered));
  say(asked === 3, 'each question once', asked);
  const earlier = wire.steps;
  const stop = new AbortController();
  const options = {signal: stop.signal, onprogress: () => {}};
  setTimeout(() => stop.abort('enough'), 400);
  say(await meta('loops', {word: 'x'}, options).then(() => false, () => true),
      'cancel');
  say(wire.steps > earlier, 'progress');
  say(text(await meta('echo', {word: 'on'})).includes('on'), 'and goes on');
  await c.close();
  say(lint === 0 && wire.wrong.length === 0, 'nothing to complain of');
}

for (const mode of ['before', 'legacy', 'auto', {pin: '2026-07-28'}])
  await run(mode);
process.exit(bad ? 1 : 0);
