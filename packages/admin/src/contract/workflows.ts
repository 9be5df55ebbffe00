// Workflows: look, signal, cancel, resume, roll back.
import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { forOperators, id, name, pageSize, reason, time } from './fields.ts'

const WORKFLOWS = '/admin/api/workflows'

export const workflowStatus = z.enum([
  'running',
  'stopping',
  'rolling back',
  'completed',
  'failed',
  'cancelled',
  'rolled back',
  'rollback failed',
])

export const workflow = z.object({
  id: z.string(),
  parentId: z.string().nullable(),
  name: z.string(),
  status: workflowStatus,
  stopping: z.enum(['failed', 'cancelled']).nullable(),
  rollsBack: z.boolean(),
  resumes: z.boolean().describe('It is rolling back, and goes on with what is left once the undo under way has ended'),
  tenant: z.string().nullable(),
  correlationId: z.string(),
  createdBy: z.string().nullable(),
  reason: z.string().nullable(),
  held: z.string().nullable(),
  createdAt: time,
  updatedAt: time,
  finishedAt: time.nullable(),
})

const step = z.object({
  name: z.string(),
  kind: z.enum(['jobs', 'signal', 'sleep', 'workflow']),
  after: z.record(z.string(), z.enum(['fail', 'skip', 'continue'])),
  isList: z.boolean(),
  canBeUndone: z.boolean(),
  completedAs: z.number().nullable().describe('In which order steps ended: a rollback undoes the last one first'),
  status: z.enum(['waiting', 'running', 'completed', 'failed', 'skipped', 'cancelled']),
  undo: z.enum(['none', 'running', 'done', 'failed']),
  undoLeft: z.number().describe('Jobs that undo it and have not ended'),
  reason: z.string().nullable(),
  dueAt: time.nullable(),
  childId: z.string().nullable(),
  jobs: z.number(),
  completed: z.number(),
  failed: z.number(),
  cancelled: z.number(),
  running: z.number(),
  jobIds: z.array(z.string()),
  undoJobIds: z.array(z.string()),
})

const changed = z.object({ status: z.literal('done'), as: workflowStatus })

export const list = endpoint({
  method: 'GET',
  path: WORKFLOWS,
  permission: 'viewer',
  scope: 'tenant',
  summary: 'List workflows, newest first',
  description: 'For the next page pass the id of the last workflow as `before`.',
  input: z.object({
    status: workflowStatus.optional(),
    name: name.optional(),
    tenant: name.optional(),
    before: id.optional(),
    limit: pageSize(1000),
  }),
  output: z.object({ workflows: z.array(workflow), next: z.string().nullable() }),
})

export const get = endpoint({
  method: 'GET',
  path: `${WORKFLOWS}/:id`,
  permission: 'viewer',
  scope: 'tenant',
  summary: 'Show a workflow and how far each step has come',
  input: z.object({ id }),
  output: workflow.extend({ input: forOperators, steps: z.array(step) }),
})

export const times = endpoint({
  method: 'GET',
  path: `${WORKFLOWS}/:id/times`,
  permission: 'viewer',
  scope: 'tenant',
  summary: 'Show when the jobs of each step of a workflow ran, and those that undid it',
  input: z.object({ id }),
  output: z.object({
    steps: z.array(
      z.object({
        name: z.string(),
        kind: z.enum(['do', 'undo']),
        type: z.string().nullable(),
        queue: z.string().nullable(),
        jobs: z.number(),
        retried: z.number(),
        enqueuedAt: time.nullable(),
        startedAt: time.nullable(),
        endedAt: time.nullable().describe('Null while one of its jobs lives'),
        p50Ms: z.number().nullable(),
        p95Ms: z.number().nullable(),
        maxMs: z.number().nullable(),
        slowestJobId: z.string().nullable(),
        states: z.string().describe('A letter for each job: r runs or waits, c completed, f failed, x cancelled'),
        spread: z.array(z.number()).describe('How many runs took how long, up to the longest, in 16 parts'),
      }),
    ),
  }),
})

export const cancel = endpoint({
  method: 'POST',
  path: `${WORKFLOWS}/:id/cancel`,
  permission: 'operator',
  scope: 'tenant',
  summary: 'Cancel a workflow, and undo what can be undone',
  input: z.object({ id, reason: reason.optional() }),
  output: changed,
})

export const resume = endpoint({
  method: 'POST',
  path: `${WORKFLOWS}/:id/resume`,
  permission: 'operator',
  scope: 'tenant',
  summary: 'Do what failed or was cancelled anew, and go on from there',
  description:
    'One that is rolling back gives that up once the undo under way has ended: what was undone is done anew, the rest is kept. It takes no payloads until then.',
  input: z.object({
    id,
    payloads: z
      .record(z.string(), z.unknown())
      .optional()
      .describe('Instead of what the definition gives, by step; of a step with many jobs by the index of the job'),
  }),
  output: changed,
})

export const rollBack = endpoint({
  method: 'POST',
  path: `${WORKFLOWS}/:id/roll-back`,
  permission: 'operator',
  scope: 'tenant',
  summary: 'Undo what a failed workflow did',
  input: z.object({ id }),
  output: changed,
})

export const signal = endpoint({
  method: 'POST',
  path: `${WORKFLOWS}/:id/signals/:name`,
  permission: 'operator',
  scope: 'tenant',
  summary: 'Tell a workflow what one of its steps waits for',
  input: z.object({ id, name, payload: z.unknown().optional(), key: name.optional() }),
  output: z.object({ status: z.enum(['accepted', 'repeated']) }),
})
