// The corner "make trouble": throws switches of the sandbox, and reads what it has received. Over HTTP, since the sandbox is
// a process of its own.
import { z } from 'zod'

/** What can be broken, and the switch for it. */
export const TROUBLES = {
  'mail-down': { service: 'smtp', mode: 'down' },
  'elevation-slow': { service: 'wcs', mode: 'slow' },
  'partner-429': { service: 'utp', mode: 'limited' },
} as const
export type Trouble = keyof typeof TROUBLES
export const TROUBLE_NAMES = Object.keys(TROUBLES) as Trouble[]

const ANSWER_MS = 2_000

const state = z.object({
  services: z.array(z.object({ name: z.string(), mode: z.string() })),
  mails: z.array(z.object({ at: z.string(), to: z.string(), subject: z.string() })).default([]),
  partner: z
    .array(z.object({ at: z.string(), webhookId: z.string(), objects: z.array(z.string()), deliveries: z.int() }))
    .default([]),
})

export interface SandboxState extends Omit<z.output<typeof state>, 'services'> {
  /** Those that this sandbox can make, and whether they are on. */
  readonly troubles: ReadonlyMap<Trouble, boolean>
}

export async function readSandbox(url: string): Promise<SandboxState> {
  const { services, mails, partner } = state.parse(await asked(url, '/control'))
  const modes = new Map(services.map(({ name, mode }) => [name, mode]))
  const known = TROUBLE_NAMES.filter((name) => modes.has(TROUBLES[name].service))
  const troubles = new Map(known.map((name) => [name, modes.get(TROUBLES[name].service) === TROUBLES[name].mode]))
  return { troubles, mails, partner }
}

export async function setTrouble(url: string, name: Trouble, isOn: boolean): Promise<void> {
  const { service, mode } = TROUBLES[name]
  await asked(url, `/control/${service}`, { mode: isOn ? mode : 'ok' })
}

async function asked(url: string, path: string, body?: object): Promise<unknown> {
  const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
  const response = await fetch(`${url}${path}`, { ...sent, signal: AbortSignal.timeout(ANSWER_MS) })
  if (response.ok) return response.json()
  throw new Error(`The sandbox answered ${response.status} at ${path}: ${(await response.text()).slice(0, 200)}`)
}
