// The client of the fax gateway, which speaks version 3 of Sinch's Fax API.
import { type EgressFetch, retryAfterMs } from '@millrace/egress'
import type { z } from 'zod'
import type { Addresses } from '../outside/addresses.ts'
import { FaxRefused, GatewayBusy, type GatewayFax, GatewayUnwell, gatewayFax, gatewayList } from './answers.ts'

export interface Submission {
  readonly to: string
  readonly document: { readonly title: string; readonly content: Uint8Array; readonly mediaType: string }
  /** Of this submission, and of no other: by it the gateway's faxes are found again. */
  readonly label: string
}

const DEFAULT_WAIT_MS = 30_000

export class FaxGateway {
  readonly #faxes: string
  readonly #authorization: string
  readonly #fetch: EgressFetch

  constructor({ url, project, key, secret }: Addresses['fax'], fetch: EgressFetch) {
    this.#faxes = `${url.replace(/\/$/, '')}/v3/projects/${encodeURIComponent(project)}/faxes`
    this.#authorization = `Basic ${Buffer.from(`${key}:${secret}`).toString('base64')}`
    this.#fetch = fetch
  }

  /** Whether it was taken: it is sent later. The gateway is told not to try again by itself, because the job does. */
  submit({ to, document, label }: Submission, signal: AbortSignal): Promise<GatewayFax> {
    const form = new FormData()
    form.set('to', to)
    form.set('maxRetries', '0')
    form.set('labels', JSON.stringify({ job: label }))
    form.set(
      'file',
      new Blob([new Uint8Array(document.content)], { type: document.mediaType }),
      `${document.title}.pdf`,
    )
    return this.#call(this.#faxes, { method: 'POST', body: form, signal }, gatewayFax)
  }

  get(gatewayId: string, signal: AbortSignal): Promise<GatewayFax> {
    return this.#call(`${this.#faxes}/${encodeURIComponent(gatewayId)}`, { signal }, gatewayFax)
  }

  /** The fax of a submission whose answer was lost. */
  async find(
    { to, label, since }: { to: string; label: string; since: Date },
    signal: AbortSignal,
  ): Promise<GatewayFax | undefined> {
    const query = new URLSearchParams({ to, 'createTime>': since.toISOString(), pageSize: '100' })
    const { faxes } = await this.#call(`${this.#faxes}?${query}`, { signal }, gatewayList)
    return faxes.find(({ labels }) => labels?.job === label)
  }

  async #call<Schema extends z.ZodType>(url: string, init: RequestInit, schema: Schema): Promise<z.output<Schema>> {
    const response = await this.#fetch(url, { ...init, headers: { authorization: this.#authorization } })
    const body = await response.text()
    if (response.status === 429) throw new GatewayBusy(retryAfterMs(response) ?? DEFAULT_WAIT_MS)
    if (response.status >= 500 || response.status === 401 || response.status === 403)
      throw new GatewayUnwell(`The fax gateway answered ${response.status}: ${said(body)}`)
    if (!response.ok) throw new FaxRefused(`The fax gateway refused the fax (${response.status}): ${said(body)}`)
    const parsed = schema.safeParse(jsonOf(body))
    if (parsed.success) return parsed.data
    throw new GatewayUnwell(`The fax gateway's answer cannot be read: ${parsed.error.issues[0]?.message}`)
  }
}

function jsonOf(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}

const said = (body: string): string => body.replaceAll(/\s+/g, ' ').slice(0, 300) || 'nothing'
