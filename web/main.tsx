import '@mantine/core/styles.css';
import './style.css';
import { createTheme, MantineProvider } from '@mantine/core';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
// This must run before the router reads the URL.
import './account/url-token.ts';
import { queryClient } from './api/query.ts';
import { router } from './router.tsx';

// Shades on which white text has the contrast that WCAG requires.
const theme = createTheme({
  primaryColor: 'blue',
  primaryShade: { light: 8, dark: 8 },
  cursorType: 'pointer',
});

// The page's nonce allows the styles that components create in the browser.
const nonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? '';
// The library that locks scrolling reads the nonce here.
Object.assign(globalThis, { __webpack_nonce__: nonce });

createRoot(document.querySelector('#root')!).render(
  <StrictMode>
    <MantineProvider theme={theme} defaultColorScheme="auto" getStyleNonce={() => nonce}>
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);
