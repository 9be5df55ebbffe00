// The Messages API, as far as tagging uses it: one forced tool, usage in tokens, and the errors of the real service.
import { type Answer, type Call, json, objectOf, type Service } from '@millrace/sandbox'
import { wordTags } from './word-tags.ts'

/** One call, as the provider would bill it. */
export interface BilledCall {
  readonly model: string
  readonly inputTokens: number
  readonly outputTokens: number
}

/** What the next answers are, instead of good ones: a status, or content that is no valid tool call. */
export type AnthropicFault = 'invalid' | 'no-tool' | 401 | 403 | 429 | 500 | 529

interface MessageRequest {
  readonly model?: unknown
  readonly max_tokens?: unknown
  readonly messages?: readonly { readonly role?: unknown; readonly content?: unknown }[]
  readonly tools?: readonly { readonly name?: unknown }[]
  readonly tool_choice?: { readonly type?: unknown; readonly name?: unknown }
}

const ERRORS: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  429: 'rate_limit_error',
  500: 'api_error',
  529: 'overloaded_error',
}

export class Anthropic implements Service {
  readonly billed: BilledCall[] = []
  /** Faults for the next calls, in turn. */
  readonly faults: AnthropicFault[] = []
  readonly #misbehaves: boolean
  readonly #latencyMs: number
  #count = 0

  constructor({ misbehaves, latencyMs }: { misbehaves: boolean; latencyMs: number }) {
    this.#misbehaves = misbehaves
    this.#latencyMs = latencyMs
  }

  /** At $3 and $15 for a million tokens. */
  get microdollars(): number {
    return this.billed.reduce((sum, { inputTokens, outputTokens }) => sum + inputTokens * 3 + outputTokens * 15, 0)
  }

  async answer(call: Call): Promise<Answer> {
    if (call.method !== 'POST' || call.path !== '/v1/messages') return problem(404, `no such endpoint: ${call.path}`)
    if (!call.headers['x-api-key'] && !call.headers.authorization?.startsWith('Bearer '))
      return problem(401, 'x-api-key header is required')
    if (!call.headers['anthropic-version']) return problem(400, 'anthropic-version: header is required')
    const request = objectOf(call) as MessageRequest | undefined
    const wrong = wrongIn(request)
    if (request === undefined || wrong !== undefined) return problem(400, wrong ?? 'the body is no JSON object')
    const fault = this.#fault()
    if (typeof fault === 'number')
      return problem(fault, 'the sandbox says so', fault === 429 ? { 'retry-after': '2' } : {})
    if (this.#latencyMs > 0) await new Promise((resolve) => setTimeout(resolve, this.#latencyMs))
    return this.#message(request, call.body.length, fault)
  }

  limited(): Answer {
    return problem(429, 'This request would exceed your rate limit.', { 'retry-after': '20' })
  }

  #fault(): AnthropicFault | undefined {
    const scripted = this.faults.shift()
    if (scripted !== undefined || !this.#misbehaves) return scripted
    this.#count += 1
    if (this.#count % 60 === 0) return 529
    if (this.#count % 40 === 0) return 429
    return this.#count % 15 === 0 ? 'invalid' : undefined
  }

  #message(request: MessageRequest, bytes: number, fault: 'invalid' | 'no-tool' | undefined): Answer {
    const article = request.messages?.map(({ content }) => contentText(content)).join('\n') ?? ''
    const tags =
      fault === 'invalid' ? { topics: 'none', sentiment: 'furious', confidence: 7 } : wordTags(unmarked(article))
    const content =
      fault === 'no-tool'
        ? [{ type: 'text', text: 'I would rather talk about something else.' }]
        : [{ type: 'tool_use', id: `toolu_${this.billed.length}`, name: request.tools?.[0]?.name, input: tags }]
    const inputTokens = Math.ceil(bytes / 4)
    const outputTokens = Math.min(Number(request.max_tokens), 40 + Math.ceil(JSON.stringify(content).length / 4))
    this.billed.push({ model: String(request.model), inputTokens, outputTokens })
    return json(200, {
      id: `msg_${this.billed.length}`,
      type: 'message',
      role: 'assistant',
      model: request.model,
      content,
      stop_reason: fault === 'no-tool' ? 'end_turn' : 'tool_use',
      stop_sequence: null,
      usage: { input_tokens: inputTokens, output_tokens: outputTokens },
    })
  }
}

function wrongIn(request: MessageRequest | undefined): string | undefined {
  if (request === undefined) return 'the body is no JSON object'
  if (typeof request.model !== 'string' || request.model === '') return 'model: field required'
  if (!Number.isInteger(request.max_tokens) || Number(request.max_tokens) < 1) return 'max_tokens: field required'
  if (!Array.isArray(request.messages) || request.messages.length === 0) return 'messages: at least one is required'
  const { tool_choice: choice, tools = [] } = request
  if (choice?.type === 'tool' && !tools.some(({ name }) => name === choice.name))
    return `tool_choice: tool '${String(choice.name)}' not found in provided tools`
  return undefined
}

function contentText(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content.map((block: { text?: unknown }) => (typeof block?.text === 'string' ? block.text : '')).join('\n')
}

/** Without the line that stands around an article. */
function unmarked(text: string): string {
  const lines = text.split('\n')
  return lines.length > 2 && lines[0] === lines.at(-1) ? lines.slice(1, -1).join('\n') : text
}

const problem = (status: number, message: string, headers: Readonly<Record<string, string>> = {}): Answer =>
  json(status, { type: 'error', error: { type: ERRORS[status] ?? 'api_error', message } }, headers)
