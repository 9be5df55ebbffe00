// A method is a job type with a dotted name. Its queue is looked up by that name, and its tenant is its organization.
import { defineJob, type JobContract, type Queue } from 'millrace'
import { z } from 'zod'
import { getQueueForJob } from './queue-config.ts'
import { queues } from './queues.ts'

export const organizationName = z
  .string()
  .regex(/^ORG-\d{4}-\d{5}$/, 'expected the name of an organization, such as ORG-2025-00001')

/** Ids come as text: numbers of the database do not fit into those of JavaScript. */
export const id = z.string().regex(/^\d{1,19}$/, 'expected a number as text, such as "17"')

/** What a method may say of itself: all of a job but what its name decides. */
type Options<Payload extends z.ZodType, Result extends z.ZodType | undefined> = Omit<
  Parameters<typeof defineJob<string, Queue, Payload, Result>>[0],
  'type' | 'queue' | 'payload' | 'tenant' | 'result'
>

type WithOrganization<Shape extends z.ZodRawShape> = z.ZodObject<
  Shape & { organization: typeof organizationName },
  z.core.$strict
>

/** What the keys of a payload must fulfil together. */
interface Rule<Shape extends z.ZodRawShape> {
  holds(payload: z.output<WithOrganization<Shape>>): boolean
  readonly message: string
}

/** Works for one organization, whose name is in the payload. An unknown key of the payload is an error. */
export function defineMethod<const Method extends string, Shape extends z.ZodRawShape, Result extends z.ZodType>(
  method: Method,
  {
    payload,
    rule,
    ...options
  }: { payload: Shape; result: Result; rule?: Rule<Shape> } & Options<WithOrganization<Shape>, Result>,
): JobContract<Method, Queue, WithOrganization<Shape>, Result, true> {
  const keys = z.strictObject({ organization: organizationName, ...payload }) as unknown as WithOrganization<Shape>
  const schema = rule === undefined ? keys : keys.refine((given) => rule.holds(given as never), rule.message)
  return defineJob({
    ...(options as object),
    type: method,
    queue: queues[getQueueForJob(method)],
    payload: schema,
    result: options.result,
    tenant: (given: { organization: string }) => given.organization,
  } as never) as never
}

/** Works for the installation: it has no organization, and no access to the rows of one. */
export function defineSystemMethod<const Method extends string, Result extends z.ZodType>(
  method: Method,
  { result, ...options }: { result: Result } & Options<z.ZodObject<Record<never, never>, z.core.$strict>, Result>,
) {
  const payload = z.strictObject({})
  return defineJob({
    ...options,
    type: method,
    queue: queues[getQueueForJob(method)],
    payload,
    result,
  } as never) as never as JobContract<Method, Queue, typeof payload, Result, false>
}
