import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { router } from './app/router.tsx'
import { queryClient } from './data/queries.ts'
import { QueueColours } from './data/queue-colours.tsx'
import './styles/index.css'
import './app/app.css'

const root = document.getElementById('root')
if (root === null) throw new Error('index.html has no #root.')
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <QueueColours>
        <RouterProvider router={router} />
      </QueueColours>
    </QueryClientProvider>
  </StrictMode>,
)
