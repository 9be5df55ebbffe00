// Forms of the page: sent from our own pages only, of a bounded size, and not too often from one address.
import type { PageContext } from '@millrace/admin'
import type { VillageParts } from '../village-parts.ts'
import { answer } from './answer.ts'
import { message } from './layout.ts'
import { RateLimit } from './rate-limit.ts'

/** What a visitor has sent. */
export interface Sent {
  readonly form: FormData
  /** The groups of the form's path. */
  readonly match: RegExpExecArray
  readonly request: Request
  readonly context: PageContext
}

export interface PageForm {
  /** Below /village, such as /^\/consent$/. */
  readonly path: RegExp
  /** Default: 64 KB. */
  readonly mostBytes?: number
  send(sent: Sent): Promise<Response>
}

const MOST_BYTES = 64 * 1024
const RATE = { most: 20, perMs: 60_000 }

export class PageForms {
  readonly #forms: readonly PageForm[]
  readonly #clock: VillageParts['clock']
  readonly #rate = new RateLimit(RATE)

  constructor(forms: readonly PageForm[], clock: VillageParts['clock']) {
    this.#forms = forms
    this.#clock = clock
  }

  /** Undefined: no form is sent there. `path`: below /village. */
  answer(path: string, request: Request, context: PageContext): Promise<Response> | undefined {
    for (const form of this.#forms) {
      const match = form.path.exec(path)
      if (match !== null) return this.#take(form, { match, request, context })
    }
    return undefined
  }

  async #take(form: PageForm, sent: Omit<Sent, 'form'>): Promise<Response> {
    const { request, context } = sent
    if (request.method !== 'POST') return refused(context, 405, { allow: 'POST' })
    const { headers } = request
    // The server has compared them with its own address. A browser sends at least one with every form.
    if (!headers.has('origin') && !headers.has('sec-fetch-site')) return refused(context, 403)
    if (!this.#rate.allows(context.source, this.#clock.now())) return refused(context, 429, { 'retry-after': '60' })
    const body = await bodyOf(request, form.mostBytes ?? MOST_BYTES)
    if (body === undefined) return refused(context, 413)
    const type = headers.get('content-type') ?? ''
    const fields = await new Response(body, { headers: { 'content-type': type } }).formData().catch(() => undefined)
    if (fields === undefined) return refused(context, 400)
    return form.send({ ...sent, form: fields })
  }
}

/** A text field without the blanks around it; '' if there is none. */
export function textOf(form: FormData, name: string): string {
  const value = form.get(name)
  return typeof value === 'string' ? value.trim() : ''
}

/** Back to a part of the page, so that a reload does not send the form again. */
export const backTo = (
  { basePath }: PageContext,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Response => new Response(null, { status: 303, headers: { location: `${basePath}/village${path}`, ...headers } })

const REFUSALS = {
  400: ['Not understood', 'The form did not arrive as it was filled in. Go back and send it once more.'],
  403: ['Not from here', 'Forms are sent from the page of the village only.'],
  405: ['Not possible', 'This address takes a form, and shows nothing.'],
  413: ['Too large', 'What was sent is larger than the village accepts.'],
  429: ['Too often', 'Many forms came from your address within a minute. Wait a minute, then send it once more.'],
} as const

function refused(
  { basePath }: PageContext,
  status: keyof typeof REFUSALS,
  headers: Record<string, string> = {},
): Promise<Response> {
  const [title, text] = REFUSALS[status]
  return answer(message(basePath, title, text), { status, headers })
}

/** Undefined: it is larger. */
async function bodyOf({ body }: Request, most: number): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body ?? []) {
    bytes += chunk.length
    if (bytes > most) return undefined
    chunks.push(chunk)
  }
  return new Uint8Array(Buffer.concat(chunks))
}
