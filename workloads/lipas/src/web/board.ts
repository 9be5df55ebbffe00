// GET /lipas/api/board: what the page shows of the work. POST /lipas/api/trouble breaks a service of the sandbox.
import { Refusal, type Route, route } from '@millrace/admin'
import { endpoint } from '@millrace/admin/contract'
import type { Millrace } from 'millrace'
import { z } from 'zod'
import { setTrouble, TROUBLE_NAMES } from '../sandbox/trouble.ts'
import type { LipasSystem } from '../system.ts'
import { type BoardState, boardState, type Received } from './board-state.ts'
import { boardHtml } from './page/board.ts'
import { represented } from './representation.ts'
import { mayOperate, timeZoneOf } from './visitor.ts'

const time = z.iso.datetime({ offset: true })
const received = z.array(z.object({ at: time, what: z.string(), note: z.string() }))

const board = endpoint({
  method: 'GET',
  path: '/lipas/api/board',
  permission: 'viewer',
  scope: 'all',
  summary: 'Show lanes, what waits, breakers, and what was sent last',
  description: 'With `Accept: text/html` as the page shows it.',
  input: z.object({}),
  output: z.object({
    workers: z.int(),
    lanes: z.array(z.object({ name: z.string(), slots: z.int(), running: z.int() })),
    waiting: z.array(
      z.object({
        type: z.string(),
        due: z.int(),
        later: z.int().describe('Not due yet: for their retry, or held by a breaker'),
        running: z.int(),
        dead: z.int(),
        'oldest-due-at': time.nullable(),
      }),
    ),
    breakers: z.array(
      z.object({
        service: z.string(),
        state: z.enum(['closed', 'open', 'half_open']),
        failures: z.int(),
        limit: z.int().describe('So many failures in a row open it'),
        'next-try-at': time.nullable(),
      }),
    ),
    mails: received.nullable().describe('Null: mails go to a real server'),
    partner: received,
    trouble: z.record(z.string(), z.boolean()).nullable().describe('Null: there is no sandbox'),
  }),
})

const trouble = endpoint({
  method: 'POST',
  path: '/lipas/api/trouble',
  permission: 'operator',
  scope: 'all',
  summary: 'Break a service of the sandbox, or mend it',
  input: z.object({ name: z.enum(TROUBLE_NAMES), on: z.boolean() }),
  output: z.object({ name: z.string(), on: z.boolean() }),
})

/** Visitors who look at the same moment share one reading. */
const FRESH_MS = 1_000

export function boardRoutes(system: LipasSystem): Route[] {
  let kept: { readonly at: number; readonly state: Promise<BoardState> } | undefined
  const read = (millrace: Millrace): Promise<BoardState> => {
    if (kept === undefined || performance.now() - kept.at > FRESH_MS)
      kept = { at: performance.now(), state: boardState(system, millrace) }
    return kept.state
  }
  return [
    route(board, async (_, { millrace, caller, request }) => {
      const state = await read(millrace)
      const view = { now: system.clock.now(), timeZone: timeZoneOf(system), mayOperate: mayOperate(caller) }
      return represented(request, { html: () => boardHtml(state, view), json: () => documentOf(state) })
    }),
    route(trouble, async ({ name, on }, { millrace, by }) => {
      const { sandboxUrl } = system
      if (sandboxUrl === undefined) throw noSandbox()
      await setTrouble(sandboxUrl, name, on)
      await millrace.audit.write({ by, action: 'sandbox.trouble', target: name, details: { on } })
      kept = undefined
      return { name, on }
    }),
  ]
}

const noSandbox = (): Refusal =>
  new Refusal(
    404,
    'not_found',
    'There is no sandbox here: real services are called, and nobody breaks them from this page.',
  )

const documentOf = ({ workers, lanes, waiting, lamps, mails, partner, troubles }: BoardState) => ({
  ...{ workers, lanes },
  waiting: waiting.map(({ oldestDueAt, ...each }) => ({ ...each, 'oldest-due-at': oldestDueAt })),
  breakers: lamps.map(({ nextTryAt, ...lamp }) => ({ ...lamp, 'next-try-at': nextTryAt })),
  ...{ mails: mails ?? null, partner: partner satisfies readonly Received[] },
  trouble: troubles === undefined ? null : Object.fromEntries(troubles),
})
