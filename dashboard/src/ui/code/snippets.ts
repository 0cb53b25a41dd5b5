// Code snippets: one API request in several languages.

export interface ApiRequest {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** With the leading slash. */
  path: string
  body?: unknown
}

interface Place {
  /** The URL of the server: `https://belfry.example.com`. */
  origin: string
  apiKey: string
}

export const languages = [
  { value: 'curl', label: 'curl' },
  { value: 'node', label: 'Node.js' },
  { value: 'python', label: 'Python' },
  { value: 'php', label: 'PHP' },
  { value: 'go', label: 'Go' },
  { value: 'ruby', label: 'Ruby' },
  { value: 'java', label: 'Java' },
  { value: 'csharp', label: 'C#' },
] as const

export type Language = (typeof languages)[number]['value']

export function snippet(language: Language, request: ApiRequest, place: Place): string {
  return writers[language](request, place)
}

/** Indents every line but the first. */
const indented = (text: string, by: number) => text.replaceAll('\n', `\n${' '.repeat(by)}`)
const json = (body: unknown) => JSON.stringify(body, undefined, 2)

const writers: Record<Language, (request: ApiRequest, place: Place) => string> = {
  curl: ({ method, path, body }, { origin, apiKey }) =>
    [
      `curl ${method === 'GET' || (method === 'POST' && body !== undefined) ? '' : `-X ${method} `}${shell(origin + path)} \\`,
      `  -H ${shell(`Authorization: ApiKey ${apiKey}`)}${body === undefined ? '' : ' \\'}`,
      ...(body === undefined
        ? []
        : ["  -H 'Content-Type: application/json' \\", `  -d ${shell(indented(json(body), 2))}`]),
    ].join('\n'),

  node: ({ method, path, body }, { origin, apiKey }) =>
    [
      `const response = await fetch(${script(origin + path)}, {`,
      ...(method === 'GET' ? [] : [`  method: '${method}',`]),
      '  headers: {',
      `    Authorization: ${script(`ApiKey ${apiKey}`)},`,
      ...(body === undefined ? [] : ["    'Content-Type': 'application/json',"]),
      '  },',
      ...(body === undefined ? [] : [`  body: JSON.stringify(${indented(scriptValue(body), 2)}),`]),
      '})',
      'console.log(await response.json())',
    ].join('\n'),

  python: ({ method, path, body }, { origin, apiKey }) =>
    [
      'import requests',
      '',
      `response = requests.${method.toLowerCase()}(`,
      `    ${JSON.stringify(origin + path)},`,
      `    headers={"Authorization": ${JSON.stringify(`ApiKey ${apiKey}`)}},`,
      ...(body === undefined ? [] : [`    json=${indented(pythonValue(body), 4)},`]),
      ')',
      'print(response.json())',
    ].join('\n'),

  php: ({ method, path, body }, { origin, apiKey }) =>
    [
      '<?php',
      `$curl = curl_init(${script(origin + path)});`,
      'curl_setopt_array($curl, [',
      '    CURLOPT_RETURNTRANSFER => true,',
      ...(method === 'GET' ? [] : [`    CURLOPT_CUSTOMREQUEST => '${method}',`]),
      '    CURLOPT_HTTPHEADER => [',
      `        ${script(`Authorization: ApiKey ${apiKey}`)},`,
      ...(body === undefined ? [] : ["        'Content-Type: application/json',"]),
      '    ],',
      ...(body === undefined ? [] : [`    CURLOPT_POSTFIELDS => json_encode(${indented(phpValue(body), 4)}),`]),
      ']);',
      'echo curl_exec($curl);',
    ].join('\n'),

  go: ({ method, path, body }, { origin, apiKey }) =>
    [
      'package main',
      '',
      'import (',
      '\t"fmt"',
      '\t"io"',
      '\t"net/http"',
      ...(body === undefined ? [] : ['\t"strings"']),
      ')',
      '',
      'func main() {',
      ...(body === undefined ? [] : [`\tbody := strings.NewReader(${goText(json(body))})`]),
      `\trequest, err := http.NewRequest("${method}", ${JSON.stringify(origin + path)}, ${body === undefined ? 'nil' : 'body'})`,
      '\tif err != nil {',
      '\t\tpanic(err)',
      '\t}',
      `\trequest.Header.Set("Authorization", ${JSON.stringify(`ApiKey ${apiKey}`)})`,
      ...(body === undefined ? [] : ['\trequest.Header.Set("Content-Type", "application/json")']),
      '\tresponse, err := http.DefaultClient.Do(request)',
      '\tif err != nil {',
      '\t\tpanic(err)',
      '\t}',
      '\tdefer response.Body.Close()',
      '\tanswer, _ := io.ReadAll(response.Body)',
      '\tfmt.Println(string(answer))',
      '}',
    ].join('\n'),

  ruby: ({ method, path, body }, { origin, apiKey }) =>
    [
      "require 'json'",
      "require 'net/http'",
      '',
      `uri = URI(${script(origin + path)})`,
      `request = Net::HTTP::${method.charAt(0)}${method.slice(1).toLowerCase()}.new(uri)`,
      `request['Authorization'] = ${script(`ApiKey ${apiKey}`)}`,
      ...(body === undefined
        ? []
        : ["request['Content-Type'] = 'application/json'", `request.body = ${rubyValue(body)}.to_json`]),
      "response = Net::HTTP.start(uri.host, uri.port, use_ssl: uri.scheme == 'https') { |http| http.request(request) }",
      'puts response.body',
    ].join('\n'),

  java: ({ method, path, body }, { origin, apiKey }) =>
    [
      'import java.net.URI;',
      'import java.net.http.*;',
      '',
      'public class Main {',
      '    public static void main(String[] args) throws Exception {',
      '        var request = HttpRequest.newBuilder()',
      `            .uri(URI.create(${JSON.stringify(origin + path)}))`,
      `            .header("Authorization", ${JSON.stringify(`ApiKey ${apiKey}`)})`,
      ...(body === undefined ? [] : ['            .header("Content-Type", "application/json")']),
      `            .method("${method}", ${
        body === undefined
          ? 'HttpRequest.BodyPublishers.noBody()'
          : `HttpRequest.BodyPublishers.ofString("""\n                ${indented(json(body).replaceAll('\\', '\\\\').replaceAll('"""', '\\"""'), 16)}"""`
      })${body === undefined ? '' : ')'}`,
      '            .build();',
      '        var response = HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());',
      '        System.out.println(response.body());',
      '    }',
      '}',
    ].join('\n'),

  csharp: ({ method, path, body }, { origin, apiKey }) =>
    [
      'using System.Text;',
      '',
      'var client = new HttpClient();',
      `var request = new HttpRequestMessage(HttpMethod.${method.charAt(0)}${method.slice(1).toLowerCase()}, ${JSON.stringify(origin + path)});`,
      `request.Headers.TryAddWithoutValidation("Authorization", ${JSON.stringify(`ApiKey ${apiKey}`)});`,
      ...(body === undefined
        ? []
        : [`request.Content = new StringContent(${csharpText(json(body))}, Encoding.UTF8, "application/json");`]),
      'var response = await client.SendAsync(request);',
      'Console.WriteLine(await response.Content.ReadAsStringAsync());',
    ].join('\n'),
}

const shell = (text: string) => `'${text.replaceAll("'", "'\\''")}'`
const script = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
/**
 * For languages without escapes in single-quoted strings: indenting the code would change a string with line breaks.
 */
const inEitherQuotes = (special: RegExp) => (text: string) =>
  /[\n\r]/.test(text)
    ? `"${text.replaceAll(special, '\\$&').replaceAll('\n', '\\n').replaceAll('\r', '\\r')}"`
    : script(text)
const phpText = inEitherQuotes(/[\\"$]/g)
const rubyText = inEitherQuotes(/[\\"#]/g)
/** A raw string cannot contain a backquote. */
const goText = (text: string) => (text.includes('`') ? JSON.stringify(text) : `\`${text}\``)
const csharpText = (text: string) => {
  const longest = Math.max(2, ...[...text.matchAll(/"+/g)].map(([run]) => run.length))
  const quotes = '"'.repeat(longest + 1)
  return `${quotes}\n    ${indented(text, 4)}\n    ${quotes}`
}

interface Notation {
  text: (text: string) => string
  constants: { true: string; false: string; null: string }
  list: readonly [open: string, close: string]
  object: readonly [open: string, close: string]
  /** If different from the two brackets. */
  emptyObject?: string
  member: (name: string) => string
  indent: number
}

function written(value: unknown, notation: Notation): string {
  if (typeof value === 'string') return notation.text(value)
  if (value === null || value === undefined) return notation.constants.null
  if (typeof value === 'boolean') return notation.constants[`${value}`]
  if (typeof value !== 'object') return `${value as number}`
  const [open, close] = Array.isArray(value) ? notation.list : notation.object
  const members = Array.isArray(value)
    ? value.map((one: unknown) => written(one, notation))
    : Object.entries(value).map(([name, one]) => `${notation.member(name)}${written(one, notation)}`)
  if (members.length === 0) return (!Array.isArray(value) && notation.emptyObject) || `${open}${close}`
  const pad = ' '.repeat(notation.indent)
  return `${open}\n${members.map((member) => `${pad}${indented(member, notation.indent)}`).join(',\n')},\n${close}`
}

const isWord = (name: string) => /^[A-Za-z_$][\w$]*$/.test(name)
const squareAndCurly = { list: ['[', ']'], object: ['{', '}'] } as const

const scriptValue = (value: unknown) =>
  written(value, {
    ...squareAndCurly,
    text: (text) => (text.includes('\n') ? JSON.stringify(text) : script(text)),
    constants: { true: 'true', false: 'false', null: 'null' },
    member: (name) => `${isWord(name) ? name : script(name)}: `,
    indent: 2,
  })

const pythonValue = (value: unknown) =>
  written(value, {
    ...squareAndCurly,
    text: JSON.stringify,
    constants: { true: 'True', false: 'False', null: 'None' },
    member: (name) => `${JSON.stringify(name)}: `,
    indent: 4,
  })

const phpValue = (value: unknown) =>
  written(value, {
    list: ['[', ']'],
    object: ['[', ']'],
    // PHP uses the same brackets for both, and reads empty ones as a list.
    emptyObject: '(object) []',
    text: phpText,
    constants: { true: 'true', false: 'false', null: 'null' },
    member: (name) => `${phpText(name)} => `,
    indent: 4,
  })

const rubyValue = (value: unknown) =>
  written(value, {
    ...squareAndCurly,
    text: rubyText,
    constants: { true: 'true', false: 'false', null: 'nil' },
    member: (name) => `${rubyText(name)} => `,
    indent: 2,
  })
