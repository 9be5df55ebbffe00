// Chains whose jobs are listed when they are started: nothing is declared, whoever knows the jobs carries them on.
import { defineJob, UnknownJobType } from 'millrace'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { setup } from '../support/setup.ts'
import { type Deeds, queues, running, statuses, work } from './running.ts'

const link = (name: string) => ({ job: work, payload: { name } })

test('listed jobs run one after another under one correlation id', async () => {
  const deeds: Deeds = { done: [] }
  await using t = await running([], deeds)
  const { id } = await t.workflows.startChain([link('mail'), link('analyse'), link('tidy')], { correlationId: 'seed' })
  expect(await t.workflows.result(id)).toMatchObject({ status: 'completed' })
  expect(deeds.done).toEqual(['mail', 'analyse', 'tidy'])
  expect((await t.millrace.jobsByCorrelation('seed')).jobs.map(({ status }) => status)).toEqual(
    Array(3).fill('completed'),
  )
})

test('what comes after a failed one does not run, and does after a resume', async () => {
  let isBroken = true
  const deeds: Deeds = {
    done: [],
    work: ({ name }) => {
      if (name === 'b' && isBroken) throw new Error('not yet')
      return { did: name }
    },
  }
  await using t = await running([], deeds)
  const { id } = await t.workflows.startChain([link('a'), link('b'), link('c')])
  expect(await t.workflows.result(id)).toMatchObject({ status: 'failed' })
  isBroken = false
  expect(await t.workflows.resume(id, { by: 'a test' })).toMatchObject({ status: 'done' })
  expect(await t.workflows.result(id)).toMatchObject({ status: 'completed' })
  expect(deeds.done).toEqual(['a', 'b', 'c'])
  expect(await statuses(t.workflows, id)).toEqual({ work: 'completed', 'work-2': 'completed', 'work-3': 'completed' })
})

test('a wrong payload or an unknown job refuses the whole chain', async () => {
  await using t = await setup()
  const { workflows } = t.client([work])
  const wrong = { job: work, payload: { name: 7 as never } }
  await expect(workflows.startChain([link('a'), wrong])).rejects.toThrow(/1\.payload\.name|\[1\]/)
  const stranger = defineJob({ type: 'stranger', queue: queues.steps, payload: z.object({}) })
  await expect(workflows.startChain([link('a'), { job: stranger, payload: {} }])).rejects.toThrow(UnknownJobType)
  await expect(workflows.startChain([])).rejects.toThrow('has no steps')
  // @ts-expect-error the payload is the job's
  await expect(workflows.startChain([{ job: work, payload: { nome: 'a' } }])).rejects.toThrow()
  expect(await t.sql('select from millrace.workflow')).toEqual([])
})
