// The colours that contracts declare for their queues, for everything below.
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useMemo } from 'react'
import { QueueColoursProvider, queueColour } from '../ui/queue-colour.ts'
import { ask } from './queries.ts'

export function QueueColours({ children }: { children: ReactNode }) {
  const { data } = useQuery({ ...ask('catalogue', 'list', { kind: 'queue' }), staleTime: 300_000 })
  const colours = useMemo(() => {
    const entries = data?.entries ?? []
    return new Map(entries.map(({ name, document }) => [name, queueColour(document.color as string | null)]))
  }, [data])
  return <QueueColoursProvider value={colours}>{children}</QueueColoursProvider>
}
