"""Claims about decisions and strategies, judged by running them: on all small inputs, and on random ones."""
