// Stands in for the fax gateway: version 3 of Sinch's Fax API, as far as Dartwing speaks it. It dials for a while, and calls fail.
import { randomUUID } from 'node:crypto'
import { type Answer, type Call, json, type Service } from '@millrace/sandbox'
import { getDocumentProxy } from 'unpdf'
import type { GatewayFax } from '../fax/answers.ts'

export const FAX_ACCOUNT = { project: 'dartwing', key: 'sandbox', secret: 'fax-machine' } as const

/** How a call ends. */
export type CallEnd = 'arrives' | 'busy' | 'no-answer' | 'dead-number'

const FAILURES = {
  busy: { errorType: 'CALL_ERROR', errorCode: 17, errorMessage: 'The line is busy' },
  'no-answer': { errorType: 'CALL_ERROR', errorCode: 49, errorMessage: 'No answer' },
  'dead-number': { errorType: 'CALL_ERROR', errorCode: 34, errorMessage: 'The phone number is not in service' },
  unreadable: {
    errorType: 'DOCUMENT_CONVERSION_ERROR',
    errorCode: 133,
    errorMessage: 'The PDF document cannot be read',
  },
} as const

/** Numbers that end so behave so. */
const BY_NUMBER: Readonly<Record<string, CallEnd>> = { '0017': 'busy', '0034': 'dead-number' }

export type SentFax = Omit<GatewayFax, 'createTime'> & { readonly createTime: string; readonly bytes: number }

export interface FaxServiceOptions {
  /** How long a call takes. Default 4 s. */
  readonly dialMs?: number
}

interface Kept {
  readonly fax: SentFax
  readonly endsAtMs: number
  readonly end: CallEnd | 'unreadable'
}

const AUTHORIZATION = `Basic ${Buffer.from(`${FAX_ACCOUNT.key}:${FAX_ACCOUNT.secret}`).toString('base64')}`
const KEPT = 20_000

export class FaxService implements Service {
  readonly #dialMs: number
  #busyUntilMs = 0
  readonly #faxes = new Map<string, Kept>()
  /** What is to become of the next calls to a number, in turn. */
  readonly #planned = new Map<string, CallEnd[]>()

  constructor({ dialMs = 4_000 }: FaxServiceOptions = {}) {
    this.#dialMs = dialMs
  }

  /** Newest first. */
  get faxes(): readonly SentFax[] {
    return [...this.#faxes.values()].map((kept) => shown(kept)).reverse()
  }

  plan(number: string, ...ends: CallEnd[]): void {
    this.#planned.set(number, ends)
  }

  async answer(call: Call): Promise<Answer> {
    if (call.method === 'POST' && call.path === '/busy') return this.#beBusy(Number(call.query.get('seconds') ?? 60))
    const [, id] = /^\/v3\/projects\/dartwing\/faxes(?:\/([\w-]+))?$/.exec(call.path) ?? []
    if (!call.path.startsWith('/v3/projects/dartwing/faxes')) return problem(404, 'There is no such resource.')
    if (call.headers.authorization !== AUTHORIZATION) return problem(401, 'Key or secret is wrong.')
    if (call.method === 'POST' && id === undefined) return this.#take(call)
    if (call.method !== 'GET') return problem(405, 'Only GET and POST are known here.')
    if (id === undefined) return this.#list(call.query)
    const found = this.#faxes.get(id)
    return found === undefined ? problem(404, `There is no fax ${id}.`) : json(200, shown(found))
  }

  limited(): Answer {
    return json(429, { error: { code: 429, message: 'Too many requests' } }, { 'retry-after': '5' })
  }

  /** For people who try what happens then. */
  #beBusy(seconds: number): Answer {
    if (!(seconds >= 0 && seconds <= 3_600)) return problem(400, '"seconds" is a number from 0 to 3600.')
    this.#busyUntilMs = Date.now() + seconds * 1_000
    return json(200, { busyFor: seconds })
  }

  async #take({ headers, body }: Call): Promise<Answer> {
    const form = await new Response(new Uint8Array(body), {
      headers: { 'content-type': headers['content-type'] ?? '' },
    })
      .formData()
      .catch(() => undefined)
    const [to, file, labels] = [form?.get('to'), form?.get('file'), form?.get('labels')]
    if (typeof to !== 'string' || !/^\+\d{6,15}$/.test(to))
      return problem(400, '"to" is not a number such as +15550100.')
    if (!(file instanceof Blob)) return problem(400, '"file" is missing.')
    const bytes = new Uint8Array(await file.arrayBuffer())
    const size = bytes.length
    const pages = await pagesOf(bytes)
    const end = pages === undefined ? 'unreadable' : this.#endOf(to)
    const fax: SentFax = {
      ...{ id: randomUUID(), to, status: 'QUEUED', createTime: new Date().toISOString(), bytes: size },
      ...(pages !== undefined && { numberOfPages: pages }),
      ...(typeof labels === 'string' && { labels: JSON.parse(labels) as Record<string, string> }),
    }
    this.#faxes.set(fax.id, { fax, end, endsAtMs: Date.now() + this.#dialMs })
    for (const old of [...this.#faxes.keys()].slice(0, Math.max(0, this.#faxes.size - KEPT))) this.#faxes.delete(old)
    return json(200, fax)
  }

  #endOf(to: string): CallEnd {
    if (Date.now() < this.#busyUntilMs) return 'busy'
    return this.#planned.get(to)?.shift() ?? BY_NUMBER[to.slice(-4)] ?? 'arrives'
  }

  #list(query: URLSearchParams): Answer {
    const [to, since] = [query.get('to'), query.get('createTime>') ?? '']
    const faxes = this.faxes.filter((fax) => (to === null || fax.to === to) && fax.createTime > since)
    return json(200, {
      faxes: faxes.slice(0, Number(query.get('pageSize') ?? 20)),
      pageNumber: 1,
      totalItems: faxes.length,
    })
  }
}

function shown({ fax, end, endsAtMs }: Kept): SentFax {
  if (Date.now() < endsAtMs) return { ...fax, status: 'IN_PROGRESS' }
  return end === 'arrives' ? { ...fax, status: 'COMPLETED' } : { ...fax, status: 'FAILURE', ...FAILURES[end] }
}

/** Undefined: it is no PDF that can be read. */
async function pagesOf(bytes: Uint8Array): Promise<number | undefined> {
  try {
    return (await getDocumentProxy(bytes)).numPages
  } catch {
    return undefined
  }
}

const problem = (status: number, message: string): Answer => json(status, { error: { code: status, message } })
