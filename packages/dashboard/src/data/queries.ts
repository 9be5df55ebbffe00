// One cache for all screens. A key is the operation and its input, so that screens that ask the same share the answer, and
// an action can say what it has changed: `refresh('jobs')`.
import { type AdminClient, AdminError } from '@millrace/admin/contract'
import { QueryClient, queryOptions } from '@tanstack/react-query'
import { api } from './client.ts'

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      // Equal parts of an answer keep their identity, so that only what has changed is drawn again.
      structuralSharing: true,
      staleTime: 1_000,
      retry: (count, error) => count < 2 && !(error instanceof AdminError && error.status < 500),
    },
  },
})

type Topic = keyof AdminClient
type Verb<T extends Topic> = keyof AdminClient[T] & string
type Operation<T extends Topic, V extends Verb<T>> = AdminClient[T][V] extends (input: infer I) => Promise<infer O>
  ? { input: I; output: O }
  : never
type Input<T extends Topic, V extends Verb<T>> = NonNullable<Operation<T, V>['input']>
export type Answer<T extends Topic, V extends Verb<T>> = Operation<T, V>['output']

/** For `useQuery`: `useQuery(ask('jobs', 'get', { id }))`. */
export function ask<T extends Topic, V extends Verb<T>>(topic: T, verb: V, input: Input<T, V>) {
  const operation = api[topic][verb] as unknown as (input: Input<T, V>) => Promise<Answer<T, V>>
  return queryOptions({ queryKey: [topic, verb, input] as const, queryFn: () => operation(input) })
}

/** After a change: what was read of these topics is read again. */
export async function refresh(...topics: Topic[]): Promise<void> {
  await Promise.all(topics.map((topic) => queryClient.invalidateQueries({ queryKey: [topic] })))
}
