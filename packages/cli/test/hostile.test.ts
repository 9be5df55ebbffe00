// What is in the database may be written by anybody. None of it may command the terminal of the person who looks at it.
import { cron, defineBudget, defineJob, defineQueues, implement, Unrecoverable } from 'millrace'
import pg from 'pg'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { fail } from '#src/failure'
import { humanLine } from '#src/log'
import { oneLine } from '#src/print'
import { fixture } from './support/program.ts'
import { setup as base } from './support/setup.ts'

/** Clears the screen, makes a link, forges a line, in C1 too, turns text around, and hides what follows. */
const HOSTILE =
  'x\u001b[2J\u001b]8;;http://evil.example\u0007click\u001b]8;;\u001b\\\r\nFORGED\n\u009b31m\u009d0;t\u009c\u202egnp\u2066\u2028FORGED\u007f\u0008y'
const COMMANDS = /(?!\n)[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]/u

const queues = defineQueues({ ledger: {} })
const cents = defineBudget('cents', { per: 'month', unit: 'cents', limit: 1_000 })
const entry = defineJob({
  type: 'entry',
  queue: queues.ledger,
  payload: z.object({ text: z.string(), dies: z.boolean() }),
  order: { key: ({ text }) => text, onDead: 'stop' },
  budget: cents,
  history: 'full',
})
const { default: studio } = await import(fixture('album.js'))

/** One of everything that commands show, with every text of it hostile. */
async function setup() {
  const t = await base({ jobs: [entry], workflows: studio.workflows })
  const { millrace } = t
  const worker = await millrace.work({
    handlers: [
      ...studio.handlers,
      implement(entry, ({ text, dies }, ctx) => {
        ctx.log.warn({ text }, text)
        if (dies) throw new Unrecoverable(text)
      }),
    ],
  })
  const died = millrace.events.next('job_died')
  const { id: dead } = await millrace.enqueue(
    entry,
    { text: HOSTILE, dies: true },
    { tenant: HOSTILE, createdBy: HOSTILE },
  )
  await died
  const { id: workflow } = await millrace.workflows.start(studio.workflows[0], { count: 7 } as never)
  await millrace.workflows.result(workflow)
  await worker.stop()
  const by = HOSTILE
  const { id: waiting } = await millrace.enqueue(entry, { text: HOSTILE, dies: false }, { tenant: HOSTILE })
  await millrace.pauses.pause({ tenant: HOSTILE }, { reason: HOSTILE, by })
  await millrace.pauses.pause({ queue: 'ledger' }, { reason: HOSTILE, by })
  await millrace.tenants.suspend(HOSTILE, { by, reason: HOSTILE })
  await millrace.keys.setLimit({ queue: 'ledger', key: HOSTILE, concurrency: 2 }, { by })
  await millrace.limits.set('queue:ledger', { running: 3 }, { by })
  await millrace.breakers.trip('mail', { by })
  const when = cron('0 8 * * *')
  const payload = { text: HOSTILE, dies: false }
  await millrace.schedules.create({ name: 'nightly', type: 'entry', payload, tenant: HOSTILE, by, when })
  await millrace.schedules.pause('nightly', { reason: HOSTILE, by })
  await spoil(t.env.DATABASE_URL)
  return { ...t, dead, waiting, workflow, letter: (await millrace.deadLetters.ofJob(dead))?.id ?? '' }
}

/** Names that the client would refuse, as another program may have written them. */
async function spoil(url: string): Promise<void> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    for (const [table, ...columns] of [
      ['circuit_breakers', 'service_name'],
      ['budget', 'name', 'unit'],
      ['schedule', 'name', 'declared_by', 'updated_by'],
      ['workflow', 'name', 'reason', 'tenant', 'created_by'],
      ['workflow_step', 'name', 'reason'],
      ['dead_letter_jobs', 'type', 'queue', 'notes', 'correlation_id'],
      ['job', 'type', 'queue', 'last_error', 'created_by', 'correlation_id'],
      ['job_attempt', 'error_class'],
    ]) {
      const spoilt = columns.map((column) => `${column} = coalesce(${column}, '') || $1`).join(', ')
      await client.query(`update millrace.${table} set ${spoilt}`, [HOSTILE])
    }
  } finally {
    await client.end()
  }
}

test('no command lets what is stored reach the terminal as anything but text, and JSON is exact', async () => {
  await using t = await setup()
  const commands = [
    ['jobs'],
    ['job', t.dead],
    ['job', t.waiting],
    ['explain', t.waiting],
    ['history', t.dead],
    ['queues'],
    ['dead'],
    ['dead', 'groups'],
    ['dead', 'show', t.letter],
    ['tenants'],
    ['tenants', 'show', HOSTILE],
    ['pauses'],
    ['schedules'],
    ['schedules', 'show', `nightly${HOSTILE}`],
    ['workflows'],
    ['workflows', 'show', t.workflow],
    ['keys'],
    ['limits'],
    ['budgets'],
    ['breakers'],
  ]
  const said = await Promise.all(commands.map(async (command) => ({ command, ...(await t.run(...command)) })))
  for (const { command, code, out, err } of said) {
    expect({ command, code, err }).toEqual({ command, code: 0, err: '' })
    expect({ command, out }).toEqual({ command, out: expect.not.stringMatching(COMMANDS) })
    expect({ command, out }).toEqual({ command, out: expect.not.stringMatching(/^FORGED/m) })
  }
  // It was there to be shown.
  const untold = said.filter(({ out }) => !out.includes('[2J')).map(({ command }) => command.join(' '))
  expect(untold).toEqual([])

  // JSON is exact, and has escapes where a terminal would obey.
  const { out } = await t.run('job', t.dead, '--json')
  expect(JSON.parse(out)).toMatchObject({ tenant: HOSTILE, payload: { text: HOSTILE } })
  expect(out).not.toMatch(COMMANDS)
  const refused = await t.run('tenants', 'show', `nobody${HOSTILE}`)
  expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('There is no tenant "nobody') })
  expect(refused.err).not.toMatch(COMMANDS)
})

test('a line of the log for people is one line, with its stack indented', () => {
  const stack = `Error: ${HOSTILE}\n    at here (file.js:1:1)`
  const json = JSON.stringify({ level: 40, time: 0, msg: HOSTILE, tenant: HOSTILE, [HOSTILE]: 'v', err: { stack } })
  const line = humanLine(json, false)
  expect(line).not.toMatch(COMMANDS)
  expect(line.split('\n').slice(1)).toEqual([
    expect.stringMatching(/^ {2}Error: x/),
    '  FORGED',
    ...Array(2).fill(expect.stringMatching(/^ {2}/)),
  ])
  expect(line.split('\n')[0]).toContain('FORGED')
})

test('what a command says when it fails has no sequences', () => {
  let told = ''
  const command = { error: (text: string) => (told = text) }
  fail(command as never, new Error(HOSTILE))
  expect(told).toContain('FORGED')
  expect(told).not.toMatch(COMMANDS)
  expect(oneLine(HOSTILE, 500)).not.toMatch(COMMANDS)
})
