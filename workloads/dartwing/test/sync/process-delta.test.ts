// Devices that worked offline: what they upload is applied once, what is lost is kept, and no pull misses a change.
import { randomUUID } from 'node:crypto'
import { drain } from 'millrace/testing'
import { expect, test } from 'vitest'
import { sha256 } from '#src/sync/devices'
import { stampText } from '#src/sync/stamp'
import { ask } from '../support/ask.ts'
import { type Dartwing, LARGE, SMALL, setup } from '../support/dartwing.ts'

const TOKEN = 'a-token-of-a-device'

interface NewChange {
  readonly field?: string
  readonly value: string | boolean
  readonly ms: number
  readonly device?: string
  readonly base?: string | null
}

const stampOf = (ms: number, device = 'phone') => stampText({ ms, counter: 0, device })
const changeOf = ({ field = 'status', value, ms, device, base = null }: NewChange) => ({
  ...{ doctype: 'Task', name: 'TASK-1', field, value, stamp: stampOf(ms, device), base },
})

async function withDevice(t: Dartwing): Promise<void> {
  await t.write(
    LARGE,
    `insert into dartwing.sync_device (organization, device, token_sha256, login) values ($1, 'phone', $2, 'ann@example.com') returning device`,
    [LARGE, sha256(TOKEN)],
  )
}

const upload = (
  t: Dartwing,
  changes: readonly object[],
  { delta = randomUUID(), token = TOKEN, organization = LARGE } = {},
) => ask(t, `/dartwing/sync/${organization}`, { method: 'POST', body: { delta, changes }, token })

async function results(t: Dartwing): Promise<unknown[]> {
  return (await drain(t.millrace, t.workload.handlers)).map((run) => ('result' in run ? run.result : run.outcome))
}

test('a delta is applied, and the next pull brings it', async () => {
  await using t = await setup()
  await withDevice(t)
  expect(
    (await upload(t, [changeOf({ value: 'Done', ms: 1 }), changeOf({ field: 'subject', value: 'Call', ms: 1 })]))
      .status,
  ).toBe(202)
  expect(await results(t)).toEqual([{ applied: 2, unchanged: 0, conflicts: 0, serverSeq: 1 }])
  const pull = await ask(t, `/dartwing/sync/${LARGE}?since=0`, { token: TOKEN })
  expect(await pull.json()).toMatchObject({
    serverSeq: 1,
    records: [{ name: 'TASK-1', fields: { status: 'Done', subject: 'Call' }, deleted: false }],
  })
  expect(
    await t.sql(`select modified_by from dartwing.task where organization = $1 and name = 'TASK-1'`, [LARGE]),
  ).toEqual([{ modified_by: 'admin@org-2025-00001.example' }])
})

test('a delta that is uploaded twice, and one that overlaps, change nothing and note nothing', async () => {
  await using t = await setup()
  await withDevice(t)
  const [first, delta] = [changeOf({ value: 'Open', ms: 1 }), randomUUID()]
  await upload(t, [first], { delta })
  await results(t)
  await upload(t, [changeOf({ value: 'Done', ms: 2, device: 'tablet', base: first.stamp })])
  await results(t)
  await upload(t, [first], { delta })
  await upload(t, [first])
  expect(await results(t)).toMatchObject([
    { applied: 0, conflicts: 0 },
    { applied: 0, conflicts: 0 },
  ])
  expect(await t.sql('select id from dartwing.sync_conflict')).toEqual([])
})

test('a change that was made without knowing another keeps both values', async () => {
  await using t = await setup()
  await withDevice(t)
  await upload(t, [changeOf({ value: 'Open', ms: 1 })])
  await upload(t, [changeOf({ value: 'Done', ms: 2, device: 'tablet' })])
  expect(await results(t)).toMatchObject([{ conflicts: 0 }, { applied: 1, conflicts: 1 }])
  expect(await t.sql('select kept, lost from dartwing.sync_conflict')).toEqual([
    { kept: { value: 'Done', stamp: stampOf(2, 'tablet') }, lost: { value: 'Open', stamp: stampOf(1) } },
  ])
})

test('a clock that is far ahead, a change that breaks the schema, and a stranger are refused', async () => {
  await using t = await setup()
  await withDevice(t)
  const ahead = await upload(t, [changeOf({ value: 'x', ms: Date.now() + 600_000 })])
  expect([ahead.status, await ahead.text()]).toEqual([
    422,
    expect.stringMatching(/more than 5 minutes ahead.*It is \d{4}-/),
  ])
  expect((await upload(t, [{ ...changeOf({ value: 'x', ms: 1 }), stamp: 'now' }])).status).toBe(422)
  expect((await upload(t, [changeOf({ value: 'x', ms: 1 })], { token: 'another-token-entirely' })).status).toBe(401)
  expect((await upload(t, [changeOf({ value: 'x', ms: 1 })], { organization: SMALL })).status).toBe(401)
  expect(await t.millrace.jobs()).toEqual([])
})
