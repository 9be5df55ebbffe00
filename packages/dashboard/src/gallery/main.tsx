// All components in one page, for looking at while they are changed: `npm run dev -w packages/dashboard`, then /gallery.html.
// It is not part of the build.
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import '../styles/index.css'
import { Gallery } from './gallery.tsx'

const root = document.getElementById('root')
if (root === null) throw new Error('gallery.html has no #root.')
createRoot(root).render(
  <StrictMode>
    <Gallery />
  </StrictMode>,
)
