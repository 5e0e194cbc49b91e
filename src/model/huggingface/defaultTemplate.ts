/**
 * The chat template for models whose own one does not show tools: turns between `<|im_start|>` and
 * `<|im_end|>`, tools as JSON in the system turn, calls as JSON between `<tool_call>` tags.
 */
export const defaultTemplate = String.raw`{%- set hasSystem = messages[0].role == 'system' -%}
{{- '<|im_start|>system\n' -}}
{{- messages[0].content if hasSystem else 'You are an assistant.' -}}
{%- if tools -%}
  {{- '\n\nTools that you can call, one in each line:\n' -}}
  {%- for tool in tools -%}
    {{- tool | tojson + '\n' -}}
  {%- endfor -%}
  {{- 'Write a call like this:\n<tool_call>\n{"name": "tool", "arguments": {"key": "value"}}\n</tool_call>' -}}
{%- endif -%}
{{- '<|im_end|>\n' -}}
{%- for message in (messages[1:] if hasSystem else messages) -%}
  {{- '<|im_start|>' + message.role + '\n' + message.content -}}
  {%- for call in message.tool_calls or [] -%}
    {{- '\n' if message.content or not loop.first else '' -}}
    {{- '<tool_call>\n{"name": ' + (call.function.name | tojson) -}}
    {{- ', "arguments": ' + (call.function.arguments | tojson) + '}\n</tool_call>' -}}
  {%- endfor -%}
  {{- '<|im_end|>\n' -}}
{%- endfor -%}
{%- if add_generation_prompt -%}
  {{- '<|im_start|>assistant\n' -}}
{%- endif -%}
`;
