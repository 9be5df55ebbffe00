// What the buttons of the sandbox do. Each is one request that curl can send, too.
import { randomUUID } from 'node:crypto'
import type { PageContext } from '@millrace/admin'
import { ignoreSignal } from '../contracts/monitoring.ts'
import { enqueueWithIsolation } from '../jobs/router.ts'
import { organizationGet, organizationSetStatus } from '../organization/directory.ts'
import { query } from '../query.ts'
import type { DartwingSystem } from '../system.ts'
import { contactsCsv } from '../traffic/csv-generator.ts'

const LARGE = 'ORG-2025-00001'
const ROWS = 200_000
const BUSY_SECONDS = 60
const IGNORES_SECONDS = 90

interface Try {
  readonly label: string
  /** What will be seen. */
  readonly effect: string
  run(system: DartwingSystem, by: string): Promise<string>
}

export const TRIES: Readonly<Record<'import' | 'busy' | 'stuck' | 'suspend', Try>> = {
  import: {
    label: `Import ${ROWS.toLocaleString('en')} rows`,
    effect: `${LARGE} gets 200 batches in bulk, and is warned at 100. Nobody else waits longer.`,
    async run({ millrace, files }, by) {
      const file = `try-${randomUUID()}.csv`
      await files.write(LARGE, file, contactsCsv({ rows: ROWS }))
      const id = await millrace.tenantDb(LARGE, async (tx) => {
        const [row] = await query<{ id: string }>(
          tx,
          'insert into dartwing.import (organization, file, asked_by) values ($1, $2, $3) returning id::text',
          [LARGE, file, 'ann@example.com'],
        )
        return (row as { id: string }).id
      })
      const { id: job } = await enqueueWithIsolation(millrace, {
        method: 'dartwing_core.imports.split',
        organization: LARGE,
        user: by,
        arguments: { import: id },
      })
      return `Job ${job} splits import ${id}.`
    },
  },
  busy: {
    label: 'Make the fax line busy for a minute',
    effect: 'Faxes fail, and are tried again after 10, 30 and 60 s. Their dead letters are counted by cause.',
    async run({ sandboxUrl }) {
      await fetch(`${sandboxUrl}/fax/busy?seconds=${BUSY_SECONDS}`, { method: 'POST' })
      return `The line is busy for ${BUSY_SECONDS} s.`
    },
  },
  stuck: {
    label: 'Run a job that ignores its signal',
    effect: 'Its timeout is 30 s. At 60 s it is a dead letter, whatever it does.',
    async run({ millrace }, by) {
      const { id } = await millrace.enqueue(
        ignoreSignal,
        { organization: LARGE, seconds: IGNORES_SECONDS },
        { createdBy: by },
      )
      return `Job ${id} runs for ${IGNORES_SECONDS} s.`
    },
  },
  suspend: {
    label: 'Suspend the large one, or resume it',
    effect: `The jobs of ${LARGE} wait, and nothing more is enqueued for it, until the button is pressed again.`,
    run: ({ millrace, database }, by) =>
      database.transaction(async (tx) => {
        const isActive = (await organizationGet(tx, LARGE))?.status === 'Active'
        if (isActive) await millrace.tenants.suspend(LARGE, { by, tx, reason: 'a button of the sandbox' })
        else await millrace.tenants.resume(LARGE, { by, tx })
        await organizationSetStatus(tx, LARGE, isActive ? 'Suspended' : 'Active')
        return `${LARGE} is ${isActive ? 'suspended' : 'active'}.`
      }),
  },
}

/** A form of the page is led back to it; a program gets a sentence. */
export async function tryOut(
  system: DartwingSystem,
  name: string,
  request: Request,
  { caller, basePath }: PageContext,
): Promise<Response> {
  const found = Object.hasOwn(TRIES, name) ? TRIES[name as keyof typeof TRIES] : undefined
  if (system.sandboxUrl === undefined) return text(404, 'There is no sandbox here: real services are called.')
  if (found === undefined)
    return text(404, `There is no "${name}" to try. There are: ${Object.keys(TRIES).join(', ')}.`)
  if (caller === null || caller.role === 'viewer' || caller.tenants !== null)
    return text(
      403,
      'This changes what all organizations share: it needs the role operator, and a token without tenants.',
    )
  const said = await found.run(system, caller.name)
  const isForm = request.headers.get('sec-fetch-mode') === 'navigate'
  return isForm ? new Response(null, { status: 303, headers: { location: `${basePath}/dartwing` } }) : text(200, said)
}

const text = (status: number, body: string): Response =>
  new Response(`${body}\n`, { status, headers: { 'content-type': 'text/plain; charset=utf-8' } })
