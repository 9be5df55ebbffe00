// Data that moves by itself.
import { type UseQueryOptions, type UseQueryResult, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useSyncExternalStore } from 'react'
import { follow, liveStatus, watchLive } from './live.ts'
import { useSession } from './session.tsx'

/** Callers that are limited to tenants may follow these and no others. */
const isForTenants = (topic: string) => topic === 'jobs' || topic.startsWith('job:')

export const useLiveStatus = () => useSyncExternalStore(watchLive, liveStatus)

/** Calls back for each message of a topic, while the component is shown. */
export function useTopic(topic: string | null, listener: (kind: 'snapshot' | 'change', value: unknown) => void): void {
  const { tenants } = useSession()
  const isAllowed = topic !== null && (tenants === null || isForTenants(topic))
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new closure is no reason for a new connection
  useEffect(() => (isAllowed ? follow(topic, listener) : undefined), [topic, isAllowed])
}

export interface LiveOptions {
  /** Ask again when this topic of the stream has news. */
  readonly topic?: string
  /** Ask again after so many milliseconds, for what has no topic. Default 10 s, also where the topic may not be followed. */
  readonly every?: number
}

const EVERY_MS = 10_000

/** As useQuery, and asks again by itself: `useLive(ask('queues', 'list', {}), { topic: 'queues' })`. Pausing stops that. */
export function useLive<Data, Key extends readonly unknown[]>(
  options: UseQueryOptions<Data, Error, Data, Key>,
  { topic, every = EVERY_MS }: LiveOptions = {},
): UseQueryResult<Data> {
  const client = useQueryClient()
  const { state } = useLiveStatus()
  useTopic(topic ?? null, () => {
    // Also for the first message: what is being read may be older.
    void client.invalidateQueries({ queryKey: options.queryKey, exact: true })
  })
  return useQuery({ ...options, refetchInterval: state === 'paused' ? false : every })
}
