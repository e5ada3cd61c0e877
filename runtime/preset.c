#include "preset.h"

/*
 * Rights: each program may edit files in the workspace and asks its own rules
 * for the rest; none is told to trust a folder, or to allow all tools.
 * Streams of events are taken where a program has them: turns are counted and
 * the answer so far is known when it has to be ended.
 */

/* clang-format off */
static const struct preset presets[] = {
    {
        .name = "claude", .program = "claude", .seen = "2.1.329, 2026-11",
        .args = {"-p", "--output-format", "stream-json", "--verbose",
                 "--max-turns", "{turns}", "--no-session-persistence",
                 "--permission-mode", "acceptEdits", "--model", "{model}"},
        .keeps_cap = true,
        .rules = {
            {{"parent_tool_use_id"}, ACT_SKIP, NULL}, /* of an agent of its own */
            {{"type=assistant"}, ACT_TURN, "message.id"},
            {{"type=assistant"}, ACT_SAY, "message.content[].text"},
            {{"type=result"}, ACT_TURNS, "num_turns"},
            {{"type=result", "subtype=error_max_turns"}, ACT_EXHAUSTED, NULL},
            {{"type=result", "subtype=error_max_turns"}, ACT_SKIP, NULL},
            /* An API's error is a "success". */
            {{"type=result", "is_error=true"}, ACT_FAIL, "result|errors[]"},
            {{"type=result", "!is_error=true"}, ACT_ANSWER, "result"},
        },
        .env = {"ANTHROPIC_*", "CLAUDE_CONFIG_DIR", "CLAUDE_CODE_OAUTH_TOKEN",
                "CLAUDE_CODE_USE_*", "CLAUDE_CODE_SKIP_*", "CLAUDE_CODE_MAX_*",
                "CLAUDE_CODE_CLIENT_*", "CLAUDE_CODE_API_*", "API_TIMEOUT_MS",
                "AWS_*?CLAUDE_CODE_USE_BEDROCK", "GOOGLE_*?CLAUDE_CODE_USE_VERTEX",
                "CLOUD_ML_REGION?CLAUDE_CODE_USE_VERTEX",
                "VERTEX_*?CLAUDE_CODE_USE_VERTEX"},
        .set = {"DISABLE_AUTOUPDATER=1"},
        .log_in = "run \"claude\" once and log in, or set ANTHROPIC_API_KEY",
        .install = "npm install -g @anthropic-ai/claude-code",
    },
    {
        .name = "codex", .program = "codex", .seen = "0.169.0, 2026-11",
        .args = {"exec", "--json", "--skip-git-repo-check", "--ephemeral",
                 "-s", "workspace-write", "-m", "{model}", "-"},
        .rules = {
            /* Items that are no tools; errors among them are warnings. */
            {{"type=item.completed", "item.type=agent_message"}, ACT_SPEAK, NULL},
            {{"type=item.completed", "item.type=agent_message"}, ACT_ANSWER, "item.text"},
            {{"item.type=agent_message"}, ACT_SKIP, NULL},
            {{"item.type=error"}, ACT_SKIP, NULL},
            {{"item.type=todo_list"}, ACT_SKIP, NULL},
            {{"item.type=reasoning"}, ACT_SPEAK, NULL},
            {{"item.type=reasoning"}, ACT_SKIP, NULL},
            {{"type=item.started"}, ACT_CALL, NULL},
            {{"type=item.completed"}, ACT_RETURN, NULL},
            {{"type=turn.failed"}, ACT_FAIL, "error.message"},
            {{"type=error"}, ACT_NOTE, "message"}, /* "Reconnecting …" */
        },
        .env = {"CODEX_*", "OPENAI_*"},
        .log_in = "run \"codex login\", or set OPENAI_API_KEY",
        .install = "npm install -g @openai/codex",
    },
    {
        .name = "gemini", .program = "gemini", .seen = "0.61.0, 2026-11",
        .args = {"-o", "stream-json", "--approval-mode", "auto_edit",
                 "-m", "{model}"},
        .rules = {
            {{"type=message", "role=assistant"}, ACT_SPEAK, NULL},
            {{"type=message", "role=assistant"}, ACT_SAY, "content"},
            {{"type=tool_use"}, ACT_CALL, NULL},
            {{"type=tool_result"}, ACT_RETURN, NULL},
            {{"type=result", "error.type=FatalTurnLimitedError"}, ACT_EXHAUSTED, NULL},
            {{"type=result", "error.type=FatalTurnLimitedError"}, ACT_SKIP, NULL},
            {{"type=result", "status=error"}, ACT_FAIL, "error.message"},
        },
        .exhausted_codes = {53},
        .env = {"GEMINI_*", "GOOGLE_*"},
        .log_in = "run \"gemini\" once here, log in and trust this folder; or set "
                  "GEMINI_API_KEY, and GEMINI_CLI_TRUST_WORKSPACE=true",
        .install = "npm install -g @google/gemini-cli",
    },
    {
        .name = "opencode", .program = "opencode", .seen = "1.18.33, 2026-11",
        .args = {"run", "--format", "json", "-m", "{model}"},
        .rules = {
            {{"type=step_start"}, ACT_TURN, NULL},
            {{"type=text"}, ACT_SAY, "part.text"},
            {{"type=step_finish", "part.reason=tool-calls"}, ACT_MORE, NULL},
            {{"type=error"}, ACT_FAIL, "error.data.message|error.name"},
        },
        .env = {"OPENCODE_*", "ANTHROPIC_*", "OPENAI_*", "GEMINI_API_KEY",
                "GOOGLE_GENERATIVE_AI_API_KEY", "OPENROUTER_API_KEY",
                "GROQ_API_KEY", "MISTRAL_API_KEY", "DEEPSEEK_API_KEY",
                "XAI_API_KEY"},
        .log_in = "run \"opencode auth login\"",
        .install = "npm install -g opencode-ai",
    },
    {
        .name = "copilot", .program = "copilot", .seen = "1.0.102, 2026-11",
        .args = {"--output-format", "json", "--allow-tool=write",
                 "--no-ask-user", "--no-auto-update", "--model", "{model}"},
        .rules = {
            {{"type=assistant.turn_start"}, ACT_TURN, NULL},
            {{"type=assistant.message", "data.toolRequests[]"}, ACT_SAY, "data.content"},
            {{"type=assistant.message", "data.toolRequests[]"}, ACT_CALL, NULL},
            {{"type=assistant.message", "!data.toolRequests[]"}, ACT_ANSWER, "data.content"},
            {{"type=assistant.turn_end"}, ACT_RETURN, NULL},
            {{"type=session.error"}, ACT_FAIL, "data.message"},
        },
        .env = {"COPILOT_*", "GH_TOKEN", "GITHUB_TOKEN", "GH_HOST"},
        .log_in = "run \"copilot login\", or set COPILOT_GITHUB_TOKEN",
        .install = "npm install -g @github/copilot",
    },
    {
        .name = "qwen", .program = "qwen", .seen = "0.24.4, 2026-11",
        .args = {"-o", "stream-json", "--approval-mode", "auto-edit",
                 "--max-session-turns", "{turns}", "-m", "{model}"},
        .keeps_cap = true,
        .rules = {
            {{"parent_tool_use_id"}, ACT_SKIP, NULL},
            {{"type=assistant"}, ACT_TURN, "message.id"},
            {{"type=assistant"}, ACT_SAY, "message.content[].text"},
            {{"type=result"}, ACT_TURNS, "num_turns"},
            {{"type=result", "is_error=true"}, ACT_FAIL, "error.message|result"},
            {{"type=result", "!is_error=true"}, ACT_ANSWER, "result"},
        },
        .exhausted_codes = {53, 55}, /* turns, and other budgets of its user */
        .env = {"QWEN_*", "DASHSCOPE_*", "BAILIAN_*", "MODELSCOPE_*", "OPENAI_*"},
        .log_in = "run \"qwen\" once and choose how to log in",
        .install = "npm install -g @qwen-code/qwen-code",
    },
    {
        .name = "cline", .program = "cline", .seen = "3.0.65, 2026-11",
        /* One word alone would be a command: the prompt gets a line end. */
        .args = {"--json", "-m", "{model}", "--", "{prompt}"},
        .rules = {
            {{"event.type=iteration_start"}, ACT_TURN, NULL},
            {{"event.type=content_end", "event.contentType=text"}, ACT_SAY, "event.text"},
            {{"event.type=iteration_end", "event.hadToolCalls=true"}, ACT_MORE, NULL},
            {{"type=run_result"}, ACT_TURNS, "iterations"},
            {{"type=run_result", "finishReason=max_iterations"}, ACT_EXHAUSTED, NULL},
            {{"type=run_result", "finishReason=max_iterations"}, ACT_SKIP, NULL},
            {{"type=run_result", "finishReason=completed"}, ACT_ANSWER, "text"},
            {{"type=run_result", "!finishReason=completed"}, ACT_FAIL, "text|finishReason"},
        },
        .env = {"CLINE_*"},
        .log_in = "run \"cline auth\"",
        .install = "npm install -g cline",
    },
};
/* clang-format on */

const struct preset *preset_at(size_t i)
{
    return i < sizeof presets / sizeof *presets ? &presets[i] : NULL;
}

const struct preset *preset_find(struct str name)
{
    const struct preset *p;

    for (size_t i = 0; (p = preset_at(i)); i++)
        if (str_is(name, p->name))
            return p;
    return NULL;
}
