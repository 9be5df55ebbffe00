// The partner for outdoor data: a token service, and a receiver that checks what it is sent and counts a repeated delivery once.
import { randomUUID } from 'node:crypto'
import { type Answer, type Call, json, objectOf, type Service, text } from '@millrace/sandbox'
import { z } from 'zod'

export interface PartnerCall {
  readonly at: string
  readonly webhookId: string
  readonly sourceEnv: string
  readonly objects: readonly string[]
  /** Times that it was delivered. */
  deliveries: number
}

/** What a client must know. */
export const UTP_CREDENTIALS = { clientId: 'lipas', clientSecret: 'sandbox', subscriptionKey: 'sandbox' } as const

export interface UtpOptions {
  /** Requests that it takes in a second. */
  readonly perSecond?: number
  /** How long its tokens are valid. */
  readonly tokenSeconds?: number
}

const KEPT = 200
const RETRY = { 'retry-after': '2' }

const body = z.strictObject({
  source: z.literal('lipas'),
  sourceEnv: z.string().min(1),
  objects: z
    .array(
      z.strictObject({
        objectType: z.enum(['point', 'line', 'polygon']),
        sourceTypeSpec: z.string().min(1),
        sourceId: z.string().min(1),
        sourceTypeId: z.enum(['sports-site', 'loi']),
        updatedAt: z.iso.datetime(),
      }),
    )
    .min(1),
})

export class Utp implements Service {
  /** Newest first, one for each webhook-id. */
  readonly calls: PartnerCall[] = []
  tokensIssued = 0
  readonly #perSecond: number
  readonly #tokenSeconds: number
  readonly #tokens = new Set<string>()
  #recent: number[] = []
  #fault: number | undefined

  constructor({ perSecond = 2, tokenSeconds = 3_600 }: UtpOptions = {}) {
    this.#perSecond = perSecond
    this.#tokenSeconds = tokenSeconds
  }

  answer(call: Call): Answer {
    if (call.method === 'POST' && call.path === '/token') return this.#token(call)
    if (call.method === 'POST' && call.path === '/objects') return this.#receive(call)
    return text(404, 'Resource not found')
  }

  limited({ path }: Call): Answer {
    return path === '/token' ? json(429, { error: 'slow_down' }, RETRY) : tooMany()
  }

  /** As when the partner changes its keys: every token that was issued is refused from now on. */
  revokeTokens(): void {
    this.#tokens.clear()
  }

  /** Answers whatever it is sent with this status; undefined: it is well again. With 5xx it has taken what it was sent. */
  failWith(status: number | undefined): void {
    this.#fault = status
  }

  #token(call: Call): Answer {
    const form = new URLSearchParams(call.body.toString())
    const isOurs =
      form.get('client_id') === UTP_CREDENTIALS.clientId && form.get('client_secret') === UTP_CREDENTIALS.clientSecret
    if (form.get('grant_type') !== 'client_credentials') return json(400, { error: 'unsupported_grant_type' })
    if (!isOurs) return json(401, { error: 'invalid_client' })
    const token = randomUUID()
    this.#tokens.add(token)
    this.tokensIssued += 1
    return json(200, { access_token: token, token_type: 'Bearer', expires_in: this.#tokenSeconds })
  }

  #receive(call: Call): Answer {
    const { headers } = call
    if (headers['ocp-apim-subscription-key'] !== UTP_CREDENTIALS.subscriptionKey)
      return json(401, { message: 'Access denied due to invalid subscription key.' })
    const token = /^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1]
    if (token === undefined || !this.#tokens.has(token)) return json(401, { message: 'Unauthorized' })
    if (this.#isTooFast()) return tooMany()
    const webhookId = headers['webhook-id']
    const parsed = body.safeParse(objectOf(call))
    if (typeof webhookId !== 'string' || !parsed.success)
      return json(422, { message: 'The body or the webhook-id is not valid.', issues: parsed.error?.issues ?? [] })
    const fault = this.#fault
    if (fault === undefined || fault >= 500) this.#note(webhookId, parsed.data)
    if (fault !== undefined) return json(fault, { message: 'The partner fails, as it was told to.' })
    return json(202, { accepted: parsed.data.objects.length })
  }

  #isTooFast(): boolean {
    const now = performance.now()
    this.#recent = this.#recent.filter((at) => now - at < 1_000)
    if (this.#recent.length >= this.#perSecond) return true
    this.#recent.push(now)
    return false
  }

  #note(webhookId: string, { sourceEnv, objects }: z.output<typeof body>): void {
    const known = this.calls.find((each) => each.webhookId === webhookId)
    if (known !== undefined) {
      known.deliveries += 1
      return
    }
    const names = objects.map(({ sourceTypeId, sourceId }) => `${sourceTypeId} ${sourceId}`)
    this.calls.unshift({ at: new Date().toISOString(), webhookId, sourceEnv, objects: names, deliveries: 1 })
    this.calls.length = Math.min(this.calls.length, KEPT)
  }
}

const tooMany = (): Answer =>
  json(429, { statusCode: 429, message: 'Rate limit is exceeded. Try again in 2 seconds.' }, RETRY)
