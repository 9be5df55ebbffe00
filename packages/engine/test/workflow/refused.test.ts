import { defineWorkflow } from 'millrace'
import { expect, test } from 'vitest'
import { type Deeds, named, running, statuses, undo, work } from './running.ts'

test('a step whose jobs Postgres will not store fails alone, also where others start with it', async () => {
  const flow = defineWorkflow('refused', { onFailure: 'stop' })
    .step('first', work, named('first'))
    .step('good', work, { ...named('good'), after: 'first' })
    .step('bad', work, { ...named('bad'), after: 'first', onFailure: 'continue' })
    .step('better', work, { ...named('better'), after: 'first' })
    .step('worse', work, { ...named('worse'), after: 'first', onFailure: 'continue' })
  const deeds: Deeds = { done: [] }
  await using t = await running([flow], deeds)
  await t.sql(`create function refuse() returns trigger language plpgsql as $$
    begin raise exception using errcode = '22000', message = 'not ' || (new.payload->>'name'); end $$`)
  await t.sql(`create trigger refuse before insert on millrace.job for each row
    when (new.payload->>'name' in ('bad', 'worse')) execute function refuse()`)
  const { id } = await t.workflows.start(flow)
  expect(await t.workflows.result(id)).toMatchObject({ status: 'completed' })
  expect(await statuses(t.workflows, id)).toEqual({
    first: 'completed',
    good: 'completed',
    bad: 'failed',
    better: 'completed',
    worse: 'failed',
  })
  const reason = (await t.workflows.get(id))?.steps.find(({ name }) => name === 'worse')?.reason
  expect(reason).toMatch(/Postgres refuses to store its jobs .*not worse/)
  expect(deeds.done.toSorted()).toEqual(['better', 'first', 'good'])
})

test('a step is not blamed for the jobs of another one, although it noticed first', async () => {
  const flow = defineWorkflow('blamed', { onFailure: 'stop' })
    .step('first', work, named('first'))
    .step('bad', work, { ...named('bad'), after: 'first', onFailure: 'continue' })
    .each('many', undo, { over: () => ['x', 'y'], payload: ({ item }) => ({ name: item }), after: 'first' })
  const deeds: Deeds = { done: [] }
  await using t = await running([flow], deeds)
  await t.sql(`alter table millrace.job add constraint no_bad check (payload->>'name' <> 'bad') not valid`)
  const { id } = await t.workflows.start(flow)
  expect(await t.workflows.result(id)).toMatchObject({ status: 'completed' })
  expect(await statuses(t.workflows, id)).toEqual({ first: 'completed', bad: 'failed', many: 'completed' })
})
