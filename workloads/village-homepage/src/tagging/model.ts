// One call of the Messages API, and what its answer means for tagging.
import Anthropic from '@anthropic-ai/sdk'
import { EgressError, EgressRefused, retryAfterMs } from '@millrace/egress'
import { Unrecoverable } from 'millrace'
import type { VillageConfig } from '../config/read.ts'
import type { Outside } from '../outside/outside.ts'
import { NO_TOKENS, type Tokens } from './prices.ts'
import type { TaggingRequest } from './prompt.ts'
import { type AiTags, readTags, TOOL_NAME } from './tags.ts'

export type ModelAnswer =
  | { readonly kind: 'tags'; readonly tags: AiTags; readonly tokens: Tokens }
  /** No valid tool call. Without tokens it was refused, and cost nothing. */
  | { readonly kind: 'invalid'; readonly why: string; readonly tokens: Tokens }
  /** "Not now": 429 or 529. */
  | { readonly kind: 'limited'; readonly retryAfterMs: number | undefined }

/** The service gave no answer, or failed. Counts for its breaker. */
export class ModelUnwell extends Error {
  override readonly name = 'ModelUnwell'
  /** The request may have been worked on, so it may be billed. */
  readonly mayBeBilled: boolean
  readonly isTimeout: boolean

  constructor(message: string, facts: { mayBeBilled: boolean; isTimeout?: boolean; cause: unknown }) {
    super(message, { cause: facts.cause })
    this.mayBeBilled = facts.mayBeBilled
    this.isTimeout = facts.isTimeout ?? false
  }
}

const LIMITED = new Set([429, 529])
/** Trying other items is of no use: key, account, model or address are wrong. */
const HOPELESS = new Set([401, 402, 403, 404])
/** The request never left this machine. */
const UNSENT = /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT)$/

export class TaggingModel {
  readonly #outside: Outside
  readonly #timeoutMs: number
  #client: { readonly api: Anthropic; readonly baseUrl: string } | undefined

  constructor(outside: Outside, { ai }: VillageConfig) {
    this.#outside = outside
    this.#timeoutMs = ai.timeout * 1_000
  }

  /** Throws ModelUnwell, Unrecoverable, or the reason of `signal`. */
  async tag(request: TaggingRequest, signal: AbortSignal): Promise<ModelAnswer> {
    const tooLate = AbortSignal.timeout(this.#timeoutMs)
    try {
      const message = await this.#api().messages.create(request, { signal: AbortSignal.any([signal, tooLate]) })
      return answerOf(message)
    } catch (error) {
      signal.throwIfAborted()
      if (tooLate.aborted)
        throw new ModelUnwell(`Anthropic gave no answer within ${this.#timeoutMs / 1_000} s.`, {
          ...{ mayBeBilled: true, isTimeout: true, cause: error },
        })
      return this.#refused(error)
    }
  }

  #refused(error: unknown): ModelAnswer {
    if (!(error instanceof Anthropic.APIError)) throw error
    const { status } = error
    const refused = causesOf(error).find((cause) => cause instanceof EgressRefused)
    if (refused !== undefined) throw new Unrecoverable(`Anthropic may not be called: ${refused.message}`)
    if (status === undefined)
      throw new ModelUnwell(`Anthropic cannot be reached: ${reasonOf(error)}`, {
        ...{ mayBeBilled: !isUnsent(error), cause: error },
      })
    const headers: Headers | undefined = error.headers
    if (LIMITED.has(status)) return { kind: 'limited', retryAfterMs: retryAfterMs(headers?.get('retry-after') ?? null) }
    const said = messageOf(error)
    if (HOPELESS.has(status))
      throw new Unrecoverable(
        `Anthropic answered ${status} (${said}). Check ANTHROPIC_API_KEY, villagecompute.ai.model and villagecompute.ai.base-url.`,
      )
    if (status >= 500)
      throw new ModelUnwell(`Anthropic answered ${status} (${said}).`, { mayBeBilled: false, cause: error })
    return { kind: 'invalid', why: `Anthropic answered ${status} (${said})`, tokens: NO_TOKENS }
  }

  /** Made when the village has started: until then nobody knows whether the sandbox answers. */
  #api(): Anthropic {
    const { baseUrl, apiKey } = this.#outside.addresses.anthropic
    if (this.#client?.baseUrl !== baseUrl) {
      const totalMs = this.#timeoutMs + 1_000
      const api = new Anthropic({
        ...{ apiKey, baseURL: baseUrl, maxRetries: 0, timeout: totalMs, logLevel: 'off' },
        // Our trace is nobody else's business.
        openTelemetry: { propagation: false },
        fetch: (input, init) =>
          this.#outside.fetch(input, { ...init, budget: { headersMs: totalMs, idleMs: totalMs, totalMs } }),
      })
      this.#client = { api, baseUrl }
    }
    return this.#client.api
  }
}

function answerOf({ content, usage, stop_reason: stopReason }: Anthropic.Message): ModelAnswer {
  const { cache_creation_input_tokens: written, cache_read_input_tokens: read } = usage
  const tokens = { input: usage.input_tokens + (written ?? 0) + (read ?? 0), output: usage.output_tokens }
  const call = content.find((block) => block.type === 'tool_use' && block.name === TOOL_NAME)
  if (call?.type !== 'tool_use') return { kind: 'invalid', why: `no call of ${TOOL_NAME} (${stopReason})`, tokens }
  const found = readTags(call.input)
  return 'tags' in found ? { kind: 'tags', ...found, tokens } : { kind: 'invalid', why: found.wrong, tokens }
}

/** What the service says about it, without the rest of its JSON. */
function messageOf(error: InstanceType<typeof Anthropic.APIError>): string {
  const body = error.error as { error?: { message?: unknown } } | undefined
  return String(body?.error?.message ?? error.message).slice(0, 200)
}

const causesOf = (error: unknown): Error[] => (error instanceof Error ? [error, ...causesOf(error.cause)] : [])

function isUnsent(error: unknown): boolean {
  return causesOf(error).some((cause) => {
    if (cause instanceof EgressError && cause.code === 'dns_failed') return true
    return 'code' in cause && UNSENT.test(String(cause.code))
  })
}

const reasonOf = (error: unknown): string =>
  causesOf(error).find((cause) => cause instanceof EgressError)?.message ?? String(error)
