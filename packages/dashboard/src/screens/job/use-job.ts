// A job and why it does not run, kept up to date by the stream.
import { useQuery } from '@tanstack/react-query'
import { ask, queryClient } from '../../data/queries.ts'
import { useLive, useTopic } from '../../data/use-live.ts'

export function useJob(id: string) {
  const job = useQuery({ ...ask('jobs', 'get', { id }), retry: false })
  const isLive = job.data !== undefined && job.data.finishedAt === null
  const why = useLive({ ...ask('jobs', 'explain', { id }), retry: false, enabled: isLive }, { every: 3_000 })
  useTopic(`job:${id}`, () => {
    // Also for the first message: what is being read may be older.
    void queryClient.invalidateQueries({ queryKey: ['jobs', 'get', { id }] })
    void queryClient.invalidateQueries({ queryKey: ['jobs', 'explain', { id }] })
  })
  return { job, why }
}
