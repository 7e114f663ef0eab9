import { Title } from '@mantine/core';
import type { ReactNode } from 'react';

type SectionProps = { readonly id: string; readonly title: string; readonly children: ReactNode };

/** A part of a page with its heading. */
export const Section = ({ id, title, children }: SectionProps) => (
  <section aria-labelledby={id}>
    <Title order={2} size="h4" id={id} mb="xs">
      {title}
    </Title>
    {children}
  </section>
);
